import { expect, test } from 'vitest'
import { licenseNames, readLicense } from './licenses.ts'
import { recogniseLicense } from './recognise.ts'

test.each(licenseNames().map(({ key }) => key))('%s is recognised, whoever holds the copyright', (key) => {
  const text = readLicense(key)!
  const filled = text.replaceAll('[year]', '2026').replaceAll('[fullname]', 'Mira Sand and others')
  expect(recogniseLicense(text)).toBe(key)
  expect(recogniseLicense(filled.replaceAll('\n', '\r\n'))).toBe(key)
})

test('other texts are none', () => {
  expect(recogniseLicense('')).toBeUndefined()
  expect(recogniseLicense('All rights reserved.')).toBeUndefined()
  expect(recogniseLicense(readLicense('mit')!.slice(0, 400))).toBeUndefined()
})

import { expect, test } from 'vitest'
import { catalogue, sections } from './index.ts'

test('every setting is in one section', () => {
  const inSections = Object.values(sections).flatMap((settings) => Object.keys(settings))
  expect(inSections.toSorted()).toEqual(Object.keys(catalogue).toSorted())
})

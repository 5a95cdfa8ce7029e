import { expect, test } from 'vitest'
import { catalogue, settingNames, type Setting } from '../../src/settings/index.ts'
import { proofs } from './proofs.ts'
import { unproven } from './unproven.ts'

test('every setting with an effect of its own has a test that shows it, but for those that are known to have none', () => {
  const found = proofs()
  const without = settingNames.filter((name) => {
    const { recorded, needs } = catalogue[name] as Setting
    return recorded !== true && needs === undefined && found.get(name)!.length === 0
  })
  expect(without.toSorted()).toEqual([...unproven.keys()].toSorted())
})

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue, settingNames, type Setting } from '../../src/settings/index.ts'
import { casesOf } from './cases.ts'
import { proofs } from './proofs.ts'
import { unproven } from './unproven.ts'

/** What the specification says of each name: `observable` ones do something here, `external` ones somewhere else. */
const facts = JSON.parse(readFileSync(path.resolve(import.meta.dirname, 'facts.json'), 'utf8')) as Record<
  string,
  { readonly effect_kind: 'observable' | 'external' | 'recorded' }
>
const observable = Object.keys(facts).filter((name) => facts[name]!.effect_kind === 'observable')
const rows: Readonly<Record<string, Setting>> = catalogue

test('every setting with an effect of its own has a test that sets it, sees the effect, and sees it end', () => {
  const found = proofs()
  const own = settingNames.filter((name) => rows[name]!.recorded !== true && rows[name]!.needs === undefined)
  const without = new Set([...own, ...observable].filter((name) => found.get(name)?.length === 0))
  expect([...without].toSorted()).toEqual([...unproven.keys()].toSorted())
})

test('no setting that the specification gives an effect is only kept', () => {
  expect(
    observable.filter((name) => rows[name]?.recorded === true || rows[name]?.needs !== undefined),
  ).toEqual([])
  const external = Object.keys(facts).filter((name) => facts[name]!.effect_kind === 'external')
  expect(external.filter((name) => rows[name]!.recorded === true)).toEqual([])
})

describe('a test of a setting', () => {
  const judged = (text: string) =>
    casesOf(text, new Set(['one', 'other', 'throttle_all_enabled'])).map(({ proves }) => proves)
  const suite = (body: string) => `const values = { one: 1 }\ntest('x', async (given) => {${body}})`
  const get = 'expect(await get()).toBe(1)'

  test.each([
    [
      'within during, and after it',
      `await during(world, { one: 1 }, async () => { ${get} }); ${get}`,
      ['one'],
    ],
    ['through a name', `await during(world, values, async () => { ${get} }); ${get}`, ['one']],
    [
      'set and set back',
      `await set(world, { one: 1 }); ${get}; await set(world, { one: 2 }); ${get}`,
      ['one'],
    ],
    [
      'by the address itself',
      `await root.put('/application/settings', { one: 1 }); ${get}; await set(world, values); ${get}`,
      ['one'],
    ],
    ['not seen to end', `await during(world, { one: 1 }, async () => { ${get} })`, []],
    ['not seen while it is set', `await during(world, { one: 1 }, work); ${get}`, []],
    [
      'not set over the API',
      `await settings.change({ one: 1 }); ${get}; await settings.change({ one: 2 }); ${get}`,
      [],
    ],
    ['only spoken of', `/* one */ ${get}; ${get}`, []],
    ['another one', `await during(world, { other: 1 }, async () => { ${get} }); ${get}`, ['other']],
  ])('%s', (_, body, proven) => {
    expect(judged(suite(body))).toEqual([proven])
  })

  test('of a table proves what the table names', () => {
    const body = `(name) => { during(world, { [name]: 1 }, () => { ${get} }); ${get} }`
    expect(judged(`test.each(['one', 'all'])('x', ${body})`)).toEqual([['one', 'throttle_all_enabled']])
  })
})

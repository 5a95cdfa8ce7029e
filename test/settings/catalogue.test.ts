// @module-tag long
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/*
 * The settings as the specification's tables name them. `identifiers.json` and `facts.json` were taken from these
 * tables, not from the catalogue.
 */

function data<T>(name: string): T {
  return JSON.parse(readFileSync(path.resolve(import.meta.dirname, name), 'utf8')) as T
}

const identifiers = data<{
  returned: string[]
  settable: string[]
  removed: string[]
  vendor: Record<string, string>
}>('identifiers.json')

interface Fact {
  readonly type: string
  readonly nullable?: boolean
  readonly min?: number
  readonly max?: number
  readonly enum?: readonly (string | number)[]
  readonly max_length?: number
  readonly type_error_form?: 'error' | 'message'
  readonly items_enum?: readonly string[]
  readonly message_on_invalid?: string
  readonly message_on_invalid_max?: string
  readonly error_on_invalid?: string
}
const facts = data<Record<string, Fact>>('facts.json')

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

const settings = async (): Promise<Json> => expectStatus(await world.root.get('/application/settings'), 200)
const put = (body: unknown) => world.root.put('/application/settings', body)

describe('every identifier of the specification', () => {
  test('is in the answer where the specification shows it', async () => {
    const shown = await settings()
    expect(identifiers.returned.filter((name) => !(name in shown))).toEqual([])
    expect(identifiers.removed.filter((name) => name in shown)).toEqual([])
  })

  test('is repeated in the spelling of the vendor, with the same value', async () => {
    const shown = await settings()
    const pairs = Object.entries(identifiers.vendor).filter(([, name]) => name in shown)
    expect(pairs.length).toBeGreaterThan(30)
    expect(pairs.filter(([vendor]) => !(vendor in shown))).toEqual([])
    for (const [vendor, name] of pairs) expect(shown[vendor]).toEqual(shown[name])
  })

  test('is known by name: alone in a change it is not unknown', async () => {
    const unknown: string[] = []
    for (const name of [...identifiers.settable, ...Object.keys(identifiers.vendor)]) {
      // A hash fits none of the simple types, and no hash has this key.
      const { status, body } = await put({ [name]: { 'no such key': [] }, dry_run: true })
      if (status !== 200 && String(body?.error).includes('at least one parameter')) unknown.push(name)
      expect(status, name).toBeLessThan(500)
    }
    expect(unknown).toEqual([])
  })

  test('that was removed is unknown', async () => {
    for (const name of identifiers.removed) {
      const { status, body } = await put({ [name]: true })
      expect([status, String(body.error)]).toEqual([
        400,
        expect.stringMatching(/^.+, .+ are missing, at least one parameter must be provided$/),
      ])
    }
  })

  test('may be sent as a query, a form or JSON', async () => {
    expect((await world.root.put('/application/settings?first_day_of_week=1')).body.first_day_of_week).toBe(1)
    const form = new URLSearchParams([
      ['first_day_of_week', '6'],
      ['default_branch_protection_defaults[allowed_to_push][][access_level]', '30'],
      ['repository_storages_weighted[default]', '75'],
      ['domain_allowlist[]', 'a.example, b.example'],
    ])
    expect((await put(form)).body).toMatchObject({
      first_day_of_week: 6,
      // The whole object is replaced.
      default_branch_protection_defaults: { allowed_to_push: [{ access_level: 30 }] },
      repository_storages_weighted: { default: 75 },
      domain_allowlist: ['a.example', 'b.example'],
    })
    const { status } = await put({
      first_day_of_week: 0,
      domain_allowlist: '',
      repository_storages_weighted: { default: 100 },
      default_branch_protection: 2,
    })
    expect(status).toBe(200)
  })
})

describe('hostile values', () => {
  const tooLong = 'x'.repeat(70_000)
  const many = Array.from({ length: 10_001 }, (_, number) => `h${number}.example`)

  /** Kept or looked up as numbers, whatever they are shown as. */
  const isNumber = new Set([
    'external_pipeline_validation_service_timeout',
    'performance_bar_allowed_group_path',
  ])

  /** What is sent for a row, and what must come of it: an error, a rule's message, or (no refusal) a good value. */
  interface Hostile {
    readonly value: unknown
    readonly form: 'error' | 'message' | 'any' | 'good'
    /** In the words of the refusal. */
    readonly words?: string | undefined
  }

  const comparing = /^must be (?:less|greater) than(?: or equal to)? \d+$/
  const ifComparing = (text: string | undefined): string | undefined =>
    text !== undefined && comparing.test(text) ? text : undefined

  function* ofFlag(name: string, fact: Fact): Iterable<Hostile> {
    yield { value: { a: 1 }, form: 'error', words: `${name} is invalid` }
    yield { value: [1], form: 'error', words: `${name} is invalid` }
    yield { value: null, form: 'message', words: 'must be a boolean value' }
    yield { value: '', form: 'message', words: 'must be a boolean value' }
    if (fact.type_error_form !== 'error') return
    for (const value of ['perhaps', 'x'.repeat(70_000)]) {
      yield { value, form: 'error', words: `${name} is invalid` }
    }
  }

  function* ofNumber(name: string, fact: Fact): Iterable<Hostile> {
    if (fact.enum !== undefined) {
      const { error_on_invalid: error, message_on_invalid: message, type_error_form: form = 'any' } = fact
      yield { value: 'many', form, words: form === 'error' ? `${name} is invalid` : undefined }
      yield {
        value: 98_765,
        form: error === undefined ? 'message' : 'error',
        words: error ?? message,
      }
      yield { value: null, form: 'any' }
      return
    }
    const form = fact.type_error_form ?? 'any'
    const words = form === 'error' ? `${name} is invalid` : form === 'message' ? 'is not a number' : undefined
    for (const value of [[1], { a: 1 }]) yield { value, form, words }
    // A text is the path of a group there.
    if (name.startsWith('performance_bar')) return yield { value: 'many', form, words: 'not found' }
    yield { value: 'many', form, words }
    if (fact.type === 'integer') yield { value: 1.5, form: 'message', words: 'must be an integer' }
    for (const value of [null, '']) {
      yield fact.nullable === true
        ? { value, form: 'good' }
        : { value, form: 'message', words: 'is not a number' }
    }
    if (fact.min !== undefined && name !== 'deactivate_dormant_users_period') {
      yield {
        value: fact.min - 1,
        form: 'message',
        words: ifComparing(fact.message_on_invalid) ?? 'must be greater than',
      }
    }
    const most =
      fact.max === undefined ? undefined : (ifComparing(fact.message_on_invalid_max) ?? 'must be less than')
    yield { value: (fact.max ?? Number.MAX_SAFE_INTEGER) + 1, form: 'message', words: most }
    yield { value: '9'.repeat(400), form: 'any' }
  }

  function* ofText(name: string, fact: Fact): Iterable<Hostile> {
    const form = isNumber.has(name) ? 'message' : 'error'
    yield { value: { a: 1 }, form }
    yield { value: [1], form }
    if (fact.enum !== undefined) {
      const { error_on_invalid: error } = fact
      yield { value: 'something else', form: error === undefined ? 'any' : 'error', words: error }
      return
    }
    const most = fact.max_length
    if (most !== undefined) {
      yield {
        value: 'x'.repeat(most + 1),
        form: 'message',
        words: `is too long (maximum is ${most} characters)`,
      }
    } else yield { value: 'x'.repeat(1_100_000), form: 'any' }
    if (fact.nullable !== true) return
    // The editor of diagrams is on from the beginning.
    const cleared = name === 'diagrams_url' ? 'message' : 'good'
    for (const value of [null, '']) yield { value, form: cleared }
  }

  function* ofList(name: string, fact: Fact): Iterable<Hostile> {
    yield { value: { a: 1 }, form: 'error', words: `${name} is invalid` }
    yield { value: [[1]], form: 'error', words: `${name} is invalid` }
    if (name !== 'import_sources') yield { value: null, form: 'good' }
    if (fact.items_enum === undefined) {
      yield { value: [tooLong], form: 'any' }
      yield { value: many, form: 'any' }
    } else if (name !== 'restricted_visibility_levels') yield { value: ['elsewhere'], form: 'any' }
  }

  function cases(name: string, fact: Fact): Iterable<Hostile> {
    if (fact.type === 'boolean') return ofFlag(name, fact)
    if (fact.type === 'integer' || fact.type === 'number') return ofNumber(name, fact)
    if (fact.type === 'string' || fact.type === 'text') return ofText(name, fact)
    if (fact.type === 'string[]' || fact.type === 'integer[]') return ofList(name, fact)
    const objects: Hostile[] = [
      { value: 'text', form: 'any' },
      { value: [1], form: 'any' },
    ]
    if (name !== 'resource_usage_limits' && name !== 'default_branch_protection_defaults') {
      objects.push({ value: { unknown_key: 'x' }, form: 'any' })
    }
    return objects
  }

  // Taken note of, and of no effect: what is sent does not matter.
  const ignored = new Set(['housekeeping_bitmaps_enabled', 'hashed_storage_enabled'])
  const refusedAsUnknown = (body: Json) => String(body['error']).includes('at least one parameter')

  test('of each setting are refused in the right form, and change nothing', { timeout: 60_000 }, async () => {
    const before = await settings()
    const wrong: string[] = []
    for (const [name, fact] of Object.entries(facts)) {
      if (ignored.has(name)) continue
      for (const { value, form, words } of cases(name, fact)) {
        // What is good may be tried without a trace; what is not is refused without it, too.
        const { status, body } = await put({ [name]: value, ...(form === 'good' && { dry_run: true }) })
        const got =
          status === 200
            ? 'good'
            : status !== 400 || refusedAsUnknown(body as Json)
              ? `${status}`
              : typeof body.error === 'string'
                ? 'error'
                : typeof body.message === 'object'
                  ? 'message'
                  : 'neither form'
        const fits = form === 'any' ? got === 'error' || got === 'message' : got === form
        const said = JSON.stringify(body.error ?? body.message ?? null)
        if (!fits || (words !== undefined && !said.includes(words))) {
          const sent = JSON.stringify(value).slice(0, 40)
          wrong.push(`${name} = ${sent}: ${got} ${said.slice(0, 80)}, not ${form} ${words ?? ''}`)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(await settings()).toEqual(before)
  })
})

test('the catalogue tells of every setting once, and of its value by default', async () => {
  const answer = await world.root.get('/application/settings/catalogue')
  const told = expectStatus(answer, 200) as unknown as (Json & { name: string; secret: boolean })[]
  const names = told.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
  const shown = await settings()
  expect(told.filter(({ name, secret }) => secret === name in shown)).toEqual([])
  expect(told.find(({ name }) => name === 'max_artifacts_size')).toMatchObject({
    section: 'CI/CD',
    schema: { type: 'integer', minimum: 1 },
    default: 100,
    plan: null,
    included: true,
    companions: [],
  })
  // The unit of a number stands in its name or in what is said of it.
  const units = /byte|Mi?B|KB|second|minute|hour|day|month/i
  const sizes = /(?<!list|requests_per)_(size|delay|timeout|time|lifetime|period|window)(?=_|$)/
  const unitless = told.filter(({ name, about, schema }) => {
    const { type } = schema as { type?: unknown }
    return [type].flat().includes('integer') && sizes.test(name) && !units.test(`${name} ${about as string}`)
  })
  expect(unitless.map(({ name }) => name)).toEqual([])
  expect(told.find(({ name }) => name === 'require_two_factor_authentication')).toMatchObject({
    companions: ['two_factor_grace_period'],
  })
})

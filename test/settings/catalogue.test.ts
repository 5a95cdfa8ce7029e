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
  function* cases([name, fact]: [string, Fact]): Iterable<{
    value: unknown
    form: 'error' | 'message' | 'any'
  }> {
    const byType = fact.type_error_form ?? 'any'
    switch (fact.type) {
      case 'boolean':
        yield { value: { a: 1 }, form: 'error' }
        yield { value: [1], form: 'error' }
        yield { value: null, form: 'message' }
        yield { value: '', form: 'message' }
        // The present name of what this one stands for is laxer.
        if (byType === 'error' && name !== 'allow_local_requests_from_hooks_and_services') {
          yield { value: 'perhaps', form: 'error' }
        }
        return
      case 'integer':
      case 'number':
        if (fact.enum !== undefined) {
          yield { value: 'many', form: 'any' }
          yield { value: 98_765, form: 'any' }
          yield { value: null, form: 'any' }
          return
        }
        yield { value: [1], form: byType }
        yield { value: { a: 1 }, form: byType }
        yield { value: 'many', form: byType }
        if (name.startsWith('performance_bar')) return
        if (fact.type === 'integer') yield { value: 1.5, form: 'message' }
        if (fact.nullable !== true) {
          yield { value: null, form: 'message' }
          yield { value: '', form: 'message' }
        }
        if (fact.min !== undefined && name !== 'deactivate_dormant_users_period')
          yield { value: fact.min - 1, form: 'message' }
        yield { value: (fact.max ?? Number.MAX_SAFE_INTEGER) + 1, form: 'message' }
        yield { value: '9'.repeat(400), form: 'any' }
        return
      case 'string':
      case 'text':
        yield { value: { a: 1 }, form: isNumber.has(name) ? 'message' : 'error' }
        yield { value: [1], form: isNumber.has(name) ? 'message' : 'error' }
        if (fact.enum !== undefined) yield { value: 'something else', form: 'any' }
        else if (fact.type === 'string')
          yield { value: 'x'.repeat((fact.max_length ?? 69_999) + 1), form: 'any' }
        return
      case 'string[]':
      case 'integer[]':
        yield { value: { a: 1 }, form: 'error' }
        yield { value: [[1]], form: 'error' }
        if (fact.items_enum === undefined) {
          yield { value: [tooLong], form: 'any' }
          yield { value: many, form: 'any' }
        } else if (name !== 'restricted_visibility_levels') yield { value: ['elsewhere'], form: 'any' }
        return
      default:
        yield { value: 'text', form: 'any' }
        yield { value: [1], form: 'any' }
        if (name !== 'resource_usage_limits' && name !== 'default_branch_protection_defaults') {
          yield { value: { unknown_key: 'x' }, form: 'any' }
        }
    }
  }

  // Taken note of, and of no effect: what is sent does not matter.
  const ignored = new Set([
    'housekeeping_bitmaps_enabled',
    'housekeeping_full_repack_period',
    'housekeeping_gc_period',
    'hashed_storage_enabled',
  ])
  const refusedAsUnknown = (body: Json) => String(body['error']).includes('at least one parameter')

  test('of each setting are refused in the right form, and change nothing', { timeout: 60_000 }, async () => {
    const before = await settings()
    const wrong: string[] = []
    for (const [name, fact] of Object.entries(facts)) {
      if (ignored.has(name)) continue
      for (const { value, form } of cases([name, fact])) {
        const { status, body } = await put({ [name]: value })
        const got =
          status !== 400 || refusedAsUnknown(body as Json)
            ? `${status}`
            : typeof body.error === 'string'
              ? 'error'
              : typeof body.message === 'object'
                ? 'message'
                : 'neither form'
        const fits = form === 'any' ? got === 'error' || got === 'message' : got === form
        if (!fits) wrong.push(`${name} = ${JSON.stringify(value).slice(0, 40)}: ${got}, not ${form}`)
      }
    }
    expect(wrong).toEqual([])
    expect(await settings()).toEqual(before)
  })
})

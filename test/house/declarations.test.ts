import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { abilities, endpoint, instance } from '../../src/access/index.ts'
import { Registry, type Endpoint, type Route } from '../../src/kernel/endpoint/index.ts'
import { startWorld, type World } from '../world/world.ts'

/** Rules that every declaration of an endpoint keeps. */
let world: World
let routes: readonly Route[]

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  ;({ routes } = world.service.registry)
})
afterAll(() => world[Symbol.asyncDispose]())

interface Schema {
  type?: string | string[]
  format?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: Schema | boolean
}

/** The endpoints of which a rule does not hold, as a list that must be empty. */
function breaking(rule: (endpoint: Endpoint, route: Route) => boolean): string[] {
  return routes
    .filter((route) => !rule(route.endpoint, route))
    .map(({ endpoint: { method, path: address } }) => `${method} ${address}`)
}

const schemaOf = (declared: unknown): Schema => declared ?? {}

function namesIn(schema: Schema): string[] {
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [name, ...namesIn(inner)]),
    ...(schema.items === undefined ? [] : namesIn(schema.items)),
    ...(schema.anyOf ?? []).flatMap(namesIn),
    ...(typeof schema.additionalProperties === 'object' ? namesIn(schema.additionalProperties) : []),
  ]
}

function isList(declared: unknown): boolean {
  const { type, items } = schemaOf(declared)
  return items !== undefined && [type].flat().includes('array')
}

describe('every endpoint', () => {
  test('has a summary that begins like a sentence and needs no second one', () => {
    expect(
      breaking(({ summary }) => /^[A-Z][^\n]{7,110}[^.\s]$/.test(summary) && summary.includes(' ')),
    ).toEqual([])
  })

  test('has a summary of its own within its path', () => {
    const seen = Map.groupBy(routes, ({ endpoint: { path: address, summary } }) => `${address} ${summary}`)
    expect([...seen].filter(([, same]) => same.length > 1).map(([text]) => text)).toEqual([])
  })

  test('has a description of whole sentences, if any', () => {
    expect(
      breaking(({ description }) => description === undefined || /^[A-Z`].*[.:]$/s.test(description)),
    ).toEqual([])
  })

  test('has a path of snake_case words and named parameters', () => {
    // `*` takes the rest of the address: a path in an archive, with its slashes. Package managers know `-` from npm.
    const segment = /^(-|\*|:[a-z][a-z0-9_]*|[a-z][a-z0-9_.-]*(:[a-z_]+)?)$/
    expect(
      breaking(
        ({ path: address }) =>
          address.startsWith('/') &&
          address
            .slice(1)
            .split('/')
            .every((one) => segment.test(one)),
      ),
    ).toEqual([])
  })

  test('names the parameters of one path as the others do', () => {
    const byShape = Map.groupBy(new Set(routes.map(({ endpoint: one }) => one.path)), (address) =>
      address.replaceAll(/:\w+/g, ':'),
    )
    expect([...byShape.values()].filter((names) => names.length > 1)).toEqual([])
  })

  test('has parameters of snake_case names', () => {
    const odd = routes.flatMap(({ endpoint: one }) =>
      namesIn(schemaOf(one.params))
        .filter((name) => !/^(_?[a-z][a-z0-9_]*|\*)$/.test(name) && !toldByClients.has(name))
        .map((name) => `${one.method} ${one.path}: ${name}`),
    )
    expect(odd).toEqual([])
  })

  test('says of an id in its path that it is a number', () => {
    const text = routes.flatMap(({ endpoint: one, params }) =>
      [...one.path.matchAll(/:(\w+_i?id)/g)]
        .filter(([, name]) => {
          const { type, anyOf } = schemaOf((params.properties as Record<string, unknown>)[name!])
          return type !== 'integer' && anyOf === undefined && !textIds.has(name!)
        })
        .map(([name]) => `${one.method} ${one.path}: ${name}`),
    )
    expect(text).toEqual([])
  })

  test('declares no parameter that only paging has', () => {
    expect(
      breaking(({ paged, params }) => paged !== true || !('page' in ((params?.properties ?? {}) as object))),
    ).toEqual([])
  })

  test('that lists is paged, but for those that are whole by the conventions', () => {
    expect(
      breaking(
        ({ method, path: address, answers, paged }) =>
          method !== 'GET' || !isList(answers) || paged === true || wholeLists.has(address),
      ),
    ).toEqual([])
  })

  test('that is paged is a GET of a list', () => {
    expect(
      breaking(({ method, answers, paged }) => paged !== true || (method === 'GET' && isList(answers))),
    ).toEqual([])
  })

  test('that only reads takes no body and no file', () => {
    expect(
      breaking(
        ({ method, body, takeFile }) => method !== 'GET' || (body !== 'stream' && takeFile === undefined),
      ),
    ).toEqual([])
  })

  test('answers with a status that fits its method', () => {
    const fitting: Readonly<Record<string, readonly number[]>> = {
      // 302: an address that leads to another one.
      GET: [200, 204, 302],
      POST: [200, 201, 202, 204],
      // 201: an access request that is approved makes a member.
      PUT: [200, 201, 202, 204],
      PATCH: [200, 202, 204],
      DELETE: [200, 202, 204],
    }
    expect(breaking(({ method }, { status }) => fitting[method]!.includes(status))).toEqual([])
    expect(breaking(({ answers }, { status }) => answers === null || status !== 204)).toEqual([])
  })

  test('tells its refusals in texts of one form', () => {
    const fits = ([status, text]: [string, string]) =>
      Number(status) >= 400 && Number(status) < 600 && /^[A-Z`].*[^.]$/.test(text)
    expect(breaking(({ refuses = {} }) => Object.entries(refuses).every(fits))).toEqual([])
  })

  test('that serves callers without credentials only reads, but for those that carry a secret of their own', () => {
    expect(
      breaking(
        ({ method, path: address, anonymous }) =>
          anonymous !== true || method === 'GET' || ownSecret.test(address),
      ),
    ).toEqual([])
  })

  // Environments, deployments and releases are not of the conventions' part; jobs need them for their keywords.
  test('that takes a job token is one of those that the conventions name (1.9)', () => {
    expect(
      breaking(
        ({ method, path: address, jobToken }) =>
          jobToken !== true || takesJobToken.test(`${method} ${address}`),
      ),
    ).toEqual([])
  })
})

/** Names that real clients send; `*` is the rest of an address. */
const toldByClients = new Set<string>([
  '*',
  ...['ID', 'Operation', 'Info', 'Who', 'Version', 'Created', 'Path'],
])

/** Ids that are text by nature (1.0), or may be a name. */
const textIds = new Set(['discussion_id', 'commit_id', 'cluster_agent_id', 'label_id'])

/** Lists that are whole by the conventions (1.1), or by nature short. */
const wholeLists = new Set([
  '/projects/:id/export_relations/status',
  '/groups/:id/export_relations/status',
  '/application/settings/catalogue',
  '/licenses',
  '/projects/:id/pipelines/:pipeline_id/variables',
  '/projects/:id/variables/explain',
  '/projects/:id/repository/code_owners',
  '/features',
  '/features/definitions',
  '/ldap/groups',
  '/ldap/:provider/groups',
  '/groups/:id/ldap_group_links',
  '/projects/:id/repository/files/:file_path/blame',
])

const ownSecret =
  /\/trigger\/pipeline$|^\/runners|^\/jobs|-slash-commands\/trigger$|^\/slack\/trigger$|^\/integrations\/slack\/|^\/feature_flags\/unleash\//

const takesJobToken =
  /^(GET \/projects\/:id\/pipelines(\/:pipeline_id(\/jobs|\/bridges)?)?|PUT \/projects\/:id\/pipelines\/:pipeline_id\/metadata|POST \/projects\/:id\/(ref\/:ref\/)?trigger\/pipeline|GET \/(projects\/:id\/)?jobs\/.*artifacts.*|GET \/job(\/allowed_agents)?|\w+ \/projects\/:id\/(environments|deployments|releases|packages|terraform)(\/.*)?|\w+ \/(groups\/:id\/-\/)?packages\/.*)$/

describe('the registry', () => {
  const declared = (address: string): Endpoint =>
    endpoint({
      method: 'GET',
      path: address,
      summary: 'One of two',
      on: instance,
      may: 'use_instance',
      answers: null,
      handle: async () => undefined,
    })

  test('refuses two endpoints at one place', () => {
    expect(() => new Registry([declared('/a/:id'), declared('/a/:name')])).toThrow(
      'GET /a/:name is declared twice',
    )
  })
})

describe('every ability', () => {
  const source = path.resolve(import.meta.dirname, '../../src')
  const code = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('access/abilities/'),
    )
    .map((file) => readFileSync(path.join(source, file), 'utf8'))
    .join('\n')

  test.each(
    Object.entries(abilities).flatMap(([kind, rules]) =>
      Object.keys(rules).map((ability) => [ability, kind]),
    ),
  )('%s on %s is asked for somewhere', (ability) => expect(code.includes(`'${ability}'`)).toBe(true))
})

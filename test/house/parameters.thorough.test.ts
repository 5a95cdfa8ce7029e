// @module-tag long
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requiredOnInput } from '../../src/kernel/endpoint/coerce.ts'
import type { Route } from '../../src/kernel/endpoint/index.ts'
import { Client, type Reply } from '../world/client.ts'
import { rootToken, startWorld, type World } from '../world/world.ts'
import { fillPath, makeThings, type Things } from './fuzz/things.ts'
import { hostileQueries, hostileSegments, rawSegments, sample, valuesFor } from './fuzz/values.ts'

/**
 * Every parameter of every endpoint is sent a share of what it does not expect, by the administrator, against things that exist.
 * Whatever comes, the answer is never the service's own failure, and every refusal has the API's form.
 */
let world: World
let routes: readonly Route[]
let things: Things
let root: Client

beforeAll(async () => {
  world = await startWorld({ PAGES_URL: 'http://sites.test', PAGES_RESOLVERS: '127.0.0.1:9' })
  ;({ routes } = world.service.registry)
  things = await makeThings(world)
  // Ends with none of the tokens that the calls below end.
  root = new Client(world.url, { 'private-token': rootToken })
})
afterAll(() => world[Symbol.asyncDispose]())

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

interface Call {
  readonly path: string
  readonly body?: string | Uint8Array
  readonly headers?: Record<string, string>
  readonly about: unknown
}

/** What is wrong with an answer, in words. */
function complaint({ status, headers, text, body }: Reply): string | undefined {
  if (status >= 500) return `${status}: ${text}`
  const type = headers.get('content-type')
  if (status === 204 || status === 304)
    return text === '' && type === null ? undefined : `${status} with a body`
  if (status < 400) return undefined
  if (type !== 'application/json') return `${status} of type ${type ?? 'none'}: ${text.slice(0, 200)}`
  const keys = typeof body === 'object' && body !== null ? Object.keys(body as object) : []
  return keys.includes('message') || keys.includes('error') ? undefined : `${status} in another form: ${text}`
}

/** The administrator; where the presented token ends with the call, with one made for that. */
async function callerOf(method: string, path: string): Promise<Client> {
  if (method === 'GET' || !path.includes('/self')) return root
  return new Client(world.url, { 'private-token': await world.token(world.root.id, ['api']) })
}

/** What is wrong with the answers, and whether one of the calls was done. */
async function complaints(
  method: string,
  calls: readonly Call[],
): Promise<{ found: string[]; done: boolean }> {
  const found: string[] = []
  let done = false
  const rest = calls.values()
  const work = async (): Promise<void> => {
    for (const call of rest) {
      const caller = await callerOf(method, call.path)
      const reply = await caller.request(method, call.path, call.body, call.headers)
      done ||= reply.status < 300
      const wrong = complaint(reply)
      if (wrong !== undefined) {
        const about = typeof call.about === 'string' ? call.about : JSON.stringify(call.about)
        found.push(`${method} ${call.path.slice(0, 200)} with ${about.slice(0, 200)}: ${wrong}`)
      }
    }
  }
  await Promise.all(Array.from({ length: 4 }, work))
  return { found, done }
}

/** `HOSTILE_SHARE=1` tries every value everywhere; that takes a long time. */
const shares = Number(process.env['HOSTILE_SHARE'] ?? 6)

/**
 * One of `shares` of the values for one parameter of one endpoint, always the same one: endpoints declare most of their
 * parameters alike, and between them all values are tried.
 */
function shareOf<T>(values: readonly T[], { endpoint: { method, path } }: Route, name: string): T[] {
  const turn = createHash('sha1').update(`${method} ${path} ${name}`).digest().readUInt32BE() % shares
  return values.filter((_, index) => index % shares === turn)
}

/** The calls that put hostile values into one parameter, the others being as they should. */
function callsFor(route: Route, name: string): Call[] {
  const { endpoint } = route
  if (isInPath(route, name)) {
    const segments = [...hostileSegments.map(encodeURIComponent), ...rawSegments]
    return segments.map((segment) => ({
      ...bodyOf(route, {}),
      path: fillPath(endpoint.path, things, { [name]: segment }) + queryOf(route),
      about: segment,
    }))
  }
  const path = fillPath(endpoint.path, things)
  const hostile = valuesFor(route.params.properties[name]!)
  const inQuery = hostileQueries(encodeURIComponent(name)).map((query) => ({
    path: `${path}?${query}`,
    about: query,
  }))
  if (takesQuery(route)) {
    const values = hostile
      .filter((value) => typeof value === 'string' || typeof value === 'number')
      .filter((value) => String(value).length < 5000)
      .map((value) => ({
        path: `${path}?${encodeURIComponent(name)}=${encodeURIComponent(String(value).toWellFormed())}`,
        about: value,
      }))
    return [...inQuery, ...values]
  }
  const inBody = hostile.map((value) => ({
    path,
    ...bodyOf(route, { [name]: value }),
    about: { [name]: value },
  }))
  const inForm = hostileQueries(encodeURIComponent(name)).map((body) => ({
    path,
    body,
    headers: form,
    about: body,
  }))
  return [...inBody, ...inForm]
}

function isInPath({ endpoint: { path } }: Route, name: string): boolean {
  return name === '*' ? path.endsWith('*') : new RegExp(`:${name}\\b`).test(path)
}

function takesQuery({ endpoint: { method, body } }: Route): boolean {
  return method === 'GET' || method === 'DELETE' || body === 'stream'
}

/** The required parameters, as they should be. */
function needed(route: Route): Record<string, unknown> {
  const names = requiredOnInput(route.params).filter((name) => !isInPath(route, name))
  return Object.fromEntries(names.map((name) => [name, sample(route.params.properties[name]!, name)]))
}

function bodyOf(
  route: Route,
  fields: Record<string, unknown>,
): { body?: string; headers?: Record<string, string> } {
  if (takesQuery(route)) return {}
  return { body: JSON.stringify({ ...needed(route), ...fields }), headers: json }
}

function queryOf(route: Route): string {
  if (!takesQuery(route)) return ''
  const query = Object.entries(needed(route)).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  )
  return query.length === 0 ? '' : `?${query.join('&')}`
}

/** Calls whose success would end what the others need: their parameters are tried while the thing is not there. */
const ending = (method: string, path: string): boolean =>
  method === 'DELETE' || /\/(archive|transfer|rotate|erase|block|ban|deactivate|restore)$/.test(path)

/** Whose values, where they are taken, would shut the others out. */
const elsewhere = new Set(['PUT /application/settings', 'PUT /application/plan_limits'])

describe('hostile parameters', () => {
  test('of every endpoint are never our failure', { timeout: 1_200_000 }, async () => {
    const all: string[] = []
    const last = (route: Route) => Number(ending(route.endpoint.method, route.endpoint.path))
    for (const route of routes.toSorted((a, b) => last(a) - last(b))) {
      const { method, path } = route.endpoint
      if (elsewhere.has(`${method} ${path}`)) continue
      for (const name of Object.keys(route.params.properties)) {
        const { found, done } = await complaints(method, shareOf(callsFor(route, name), route, name))
        all.push(...found)
        if (done && last(route) === 1) things = await makeThings(world)
      }
    }
    expect(all).toEqual([])
  })
})

describe('hostile bodies', () => {
  const bodies: readonly Omit<Call, 'path'>[] = [
    { body: '{', headers: json, about: 'half an object' },
    { body: '{"a":}', headers: json, about: 'no value' },
    { body: '[1,2]', headers: json, about: 'a list' },
    { body: 'null', headers: json, about: 'null' },
    { body: '"text"', headers: json, about: 'a text' },
    { body: '', headers: json, about: 'nothing' },
    { body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), headers: json, about: 'bytes that are no UTF-8' },
    { body: '['.repeat(100_000), headers: json, about: 'brackets' },
    { body: '{"a":'.repeat(50_000), headers: json, about: 'hashes' },
    { body: '{"__proto__":{"x":1}}', headers: json, about: 'a prototype' },
    { body: 'a&&=&=b&%&[]=1&[a]=2', headers: form, about: 'an odd form' },
    { body: 'x', headers: { 'content-type': 'multipart/form-data' }, about: 'multipart without a boundary' },
    {
      body: '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      about: 'multipart that breaks off',
    },
    {
      body: '--b\r\n\r\n\r\n--b--\r\n',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      about: 'multipart without names',
    },
    { body: '<a/>', headers: { 'content-type': 'application/xml' }, about: 'XML' },
    { body: 'x', headers: { 'content-type': ';;;' }, about: 'an odd type' },
    { body: 'x', headers: { 'content-type': 'application/json; charset=utf-16' }, about: 'another charset' },
  ]

  test('to every endpoint are never our failure', { timeout: 120_000 }, async () => {
    const found: string[] = []
    for (const route of routes) {
      const { method, path } = route.endpoint
      if (method === 'GET' || method === 'DELETE') continue
      const filled = fillPath(path, things)
      const calls = bodies.map((call) => ({ ...call, path: filled }))
      found.push(...(await complaints(method, calls)).found)
    }
    expect(found).toEqual([])
  })
})

describe('hostile headers', () => {
  test.each([
    ['private-token', 'x'.repeat(9000)],
    ['private-token', '\u00ff\u00fe'],
    ['authorization', 'Bearer'],
    ['authorization', 'Basic !!!!'],
    ['sudo', '-1'],
    ['sudo', "' or 1=1"],
    ['if-none-match', '"'],
    ['if-unmodified-since', 'never'],
    ['range', 'bytes=a-b'],
    ['accept', 'application/xml;q=x'],
    ['origin', 'null'],
    ['x-forwarded-for', '999.999.999.999'],
    ['job-token', ' '],
    ['x-request-id', '${jndi:ldap://x}'],
  ])('%s: %j', async (name, value) => {
    const reply = await root.get('/version', { [name]: value })
    expect(complaint(reply)).toBeUndefined()
  })
})

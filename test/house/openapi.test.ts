import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentPath } from '../../src/kernel/endpoint/index.ts'
import { startWorld, type Json, type World } from '../world/world.ts'

let world: World
let document: Json

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  document = (await world.anonymous.get('/openapi.json')).body as Json
})
afterAll(() => world[Symbol.asyncDispose]())

interface Operation {
  operationId: string
  tags: string[]
  parameters?: { name: string; in: string; schema: Json }[]
  requestBody?: { content: Record<string, { schema: Json }> }
  responses: Record<string, Json>
  security: Json[]
}

function operations(): { method: string; path: string; operation: Operation }[] {
  return Object.entries(document['paths'] as Record<string, Record<string, Operation>>).flatMap(
    ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
}

function operation(name: string): Operation {
  return operations().find(({ operation: one }) => one.operationId === name)!.operation
}

describe('the OpenAPI document', () => {
  test('is valid', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result.errors ?? []).toEqual([])
  })

  test('has every endpoint, each under a name of its own', () => {
    const listed = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    const declared = world.service.registry.routes.map(
      ({ endpoint }) => `${endpoint.method} ${documentPath(endpoint.path)}`,
    )
    expect(listed.toSorted()).toEqual(declared.toSorted())
    const names = operations().map(({ operation: { operationId } }) => operationId)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^(get|post|put|patch|delete)[A-Z][a-zA-Z0-9]*$/)
  })

  test('refers to nothing that it does not hold', () => {
    const missing = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].filter(
      ([, pointer]) =>
        pointer!.split('/').reduce<unknown>((place, key) => (place as Json)[key], document) === undefined,
    )
    expect(missing).toEqual([])
  })

  test('says where each parameter goes', () => {
    const create = operation('postProjectVariables')
    expect(create.parameters).toMatchObject([{ name: 'id', in: 'path', required: true }])
    expect(Object.keys(create.requestBody!.content)).toEqual([
      'application/json',
      'application/x-www-form-urlencoded',
    ])
    const list = operation('getProjectVariables')
    expect(list.parameters!.map(({ name }) => name)).toEqual(['id', 'page', 'per_page'])
    expect(list.requestBody).toBeUndefined()
    expect(operation('getProjectVariable').parameters).toMatchObject([
      {},
      {},
      { name: 'filter', in: 'query', style: 'deepObject' },
    ])
  })

  test('names what can go wrong, and who may call', () => {
    const get = operation('getProjectVariable')
    expect(Object.keys(get.responses)).toEqual(['200', '400', '401', '403', '404', '409'])
    expect(get).toMatchObject({
      tags: ['Variables'],
      'x-ability': { on: 'project', may: 'read_cicd_variables' },
      'x-scopes': ['api', 'read_api'],
    })
    expect(get.security).not.toContainEqual({})
    expect(operation('getOpenapiJson').security).toContainEqual({})
  })

  test('gives a shape that several answers share a name', () => {
    const reference = { $ref: '#/components/schemas/Variable' }
    const schemaOf = (name: string, status: string) =>
      (operation(name).responses[status] as { content: Record<string, { schema: Json }> }).content[
        'application/json'
      ]!.schema
    expect(schemaOf('getProjectVariable', '200')).toEqual(reference)
    expect(schemaOf('postProjectVariables', '201')).toEqual(reference)
    expect(schemaOf('getProjectVariables', '200')).toEqual({ type: 'array', items: reference })
  })

  test('is not sent to whom has it', async () => {
    const first = await world.anonymous.get('/openapi.json')
    const again = await world.anonymous.get('/openapi.json', { 'if-none-match': first.headers.get('etag')! })
    expect([again.status, again.text]).toEqual([304, ''])
  })
})

describe('the pages', () => {
  test.each([
    ['/', 'text/html; charset=utf-8'],
    ['/-/api', 'text/html; charset=utf-8'],
    ['/-/settings', 'text/html; charset=utf-8'],
    ['/users/sign_in', 'text/html; charset=utf-8'],
    ['/-/assets/style.css', 'text/css; charset=utf-8'],
    ['/-/assets/icon.svg', 'image/svg+xml'],
  ])('%s is static and loads nothing from elsewhere', async (path, type) => {
    const answer = await world.anonymous.get(world.url + path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    expect(answer.text).not.toMatch(/(src|href)="https?:|url\(|@import|<script>|<style>|\son\w+="/)
    const again = await world.anonymous.get(world.url + path, {
      'if-none-match': answer.headers.get('etag')!,
    })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  test('link only to what is there', async () => {
    const links: string[] = []
    for (const page of ['/', '/-/api', '/-/settings', '/users/sign_in']) {
      const { text } = await world.anonymous.get(world.url + page)
      for (const [, target] of text.matchAll(/(?:src|href)="([^"#]+)"/g)) {
        links.push(new URL(target!, world.url + page).pathname)
      }
    }
    const asBrowser = { accept: 'text/html,*/*;q=0.8' }
    for (const link of new Set(links))
      expect([link, (await world.anonymous.get(world.url + link, asBrowser)).status]).toEqual([link, 200])
  })

  test.each(['/-/assets/none.js', '/-/assets/..%2Findex.ts', '/-/assets/'])('%s is 404', async (path) => {
    expect((await world.anonymous.get(world.url + path)).status).toBe(404)
  })
})

import { requiredOnInput } from './coerce.ts'
import type { Endpoint } from './endpoint.ts'
import { operationIds, pascal, tagOf } from './openapi-names.ts'
import { Components, type Schema } from './openapi-schemas.ts'
import { pathParamNames } from './path.ts'
import { knowsOffsetsOnly, type Registry, type Route } from './registry.ts'

export interface OpenApiOptions {
  readonly title: string
  readonly version: string
  readonly description: string
  /** Token scopes of which an endpoint takes any. */
  readonly scopesOf: (endpoint: Endpoint) => readonly string[]
}

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of all endpoints. What OpenAPI has no word for stands in `x-` fields. */
export function openApiDocument({ routes }: Registry, options: OpenApiOptions): Json {
  const components = new Components(routes)
  const names = operationIds(routes.map(({ endpoint }) => endpoint))
  const paths: Record<string, Json> = {}
  for (const [index, route] of routes.entries()) {
    const path = documentPath(route.endpoint.path)
    const operations = (paths[path] ??= {})
    operations[route.endpoint.method.toLowerCase()] = operation(route, names[index]!, components, options)
  }
  const tags = new Set(routes.map(({ endpoint }) => tagOf(endpoint)))
  return {
    openapi: '3.1.0',
    info: { title: options.title, version: options.version, description: options.description },
    servers: [{ url: '/api/v4' }],
    tags: [...tags].sort().map((name) => ({ name })),
    paths,
    components: {
      securitySchemes,
      headers: { ...pagingHeaders, ...pollingHeaders },
      schemas: { ...sharedSchemas, ...components.schemas },
      responses: Object.fromEntries(
        Object.entries(usualRefusals).map(([status, description]) => [status, refusal(description)]),
      ),
    },
  }
}

/** The rest of a path, `*`, has the name `path` here. */
export function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{path}')
}

function operation(route: Route, name: string, components: Components, options: OpenApiOptions): Json {
  const { endpoint } = route
  const machine = isMachine(endpoint)
  return {
    operationId: name,
    tags: [tagOf(endpoint)],
    summary: endpoint.summary,
    ...(endpoint.description !== undefined && { description: endpoint.description }),
    ...describeParams(route, pascal(name), components),
    responses: { ...success(route, components), ...refusals(route) },
    security: security(endpoint),
    'x-ability': { on: kindOf(endpoint), may: endpoint.may as string },
    ...(!machine && { 'x-scopes': options.scopesOf(endpoint) }),
    ...(endpoint.plan !== undefined && { 'x-plan': endpoint.plan }),
    ...(endpoint.rules !== undefined && { 'x-rules': endpoint.rules }),
  }
}

function kindOf(endpoint: Endpoint): string {
  return endpoint.on.name as string
}

function isMachine(endpoint: Endpoint): boolean {
  return kindOf(endpoint) === 'runner' || kindOf(endpoint) === 'job'
}

const nameable = new Set(['project', 'group'])
const idOrPath = 'Id, or full path with its slashes as %2F'

/** Path and query parameters, and the body. */
function describeParams(
  route: Route,
  name: string,
  components: Components,
): { parameters?: Json[]; requestBody?: Json } {
  const { endpoint, params } = route
  const properties = params.properties as Record<string, Schema>
  const required = new Set(requiredOnInput(params))
  const inPath = new Set([...pathParamNames(endpoint.path), ...(endpoint.path.endsWith('*') ? ['*'] : [])])
  const stream = endpoint.body === 'stream'
  const inQuery = endpoint.method === 'GET' || endpoint.method === 'DELETE' || stream
  const pathParameters = [...inPath].map((name) => {
    const named = name === 'id' && nameable.has(kindOf(endpoint))
    return parameter(
      name === '*' ? 'path' : name,
      'path',
      { ...(named && { description: idOrPath }), ...properties[name] },
      true,
    )
  })
  const others = Object.entries(properties).filter(([name]) => !inPath.has(name))
  const queryParameters = inQuery
    ? others.map(([name, schema]) => parameter(name, 'query', schema, required.has(name)))
    : []
  const parameters = [...pathParameters, ...queryParameters]
  const body = stream
    ? streamBody
    : inQuery
      ? undefined
      : requestBody(others, required, (schema) => components.add(`${name}Body`, schema))
  return { ...(parameters.length > 0 && { parameters }), ...(body !== undefined && { requestBody: body }) }
}

/** Lists and hashes are sent in bracket notation: `scope[]=failed`, `filter[environment_scope]=prod`. */
function parameter(name: string, place: 'path' | 'query', schema: Schema, required: boolean): Json {
  const { description, deprecated, ...rest } = schema
  const type = [schema.type].flat().find((one) => one !== 'null')
  const named = type === 'array' && place === 'query' ? `${name}[]` : name
  return {
    name: named,
    in: place,
    required,
    ...(description !== undefined && { description }),
    ...(deprecated === true && { deprecated }),
    ...(type === 'object' && place === 'query' && { style: 'deepObject', explode: true }),
    schema: rest,
  }
}

const streamBody = { content: { 'application/octet-stream': { schema: {} } } }

function requestBody(
  params: readonly (readonly [string, Schema])[],
  required: ReadonlySet<string>,
  named: (schema: Schema) => Schema,
): Json | undefined {
  if (params.length === 0) return undefined
  const needed = params.map(([name]) => name).filter((name) => required.has(name))
  const schema = named({
    type: 'object',
    properties: Object.fromEntries(params),
    ...(needed.length > 0 && { required: needed }),
  })
  const isFile = ([, { format }]: readonly [string, Schema]): boolean => format === 'binary'
  const types = !params.some(isFile)
    ? ['application/json', 'application/x-www-form-urlencoded']
    : ['multipart/form-data']
  return { required: needed.length > 0, content: Object.fromEntries(types.map((type) => [type, { schema }])) }
}

function success({ endpoint, status }: Route, components: Components): Json {
  if (endpoint.answers === null) return { [status]: { description: 'Done; there is no body.' } }
  return {
    [status]: {
      description: endpoint.paged === true ? 'A page of the list.' : 'The answer.',
      ...headersOf(endpoint),
      content: { 'application/json': { schema: components.write(endpoint.answers as Schema) } },
    },
  }
}

function headersOf({ paged, pollable }: Endpoint): { headers?: Json } {
  const names = [
    ...(paged === true ? Object.keys(pagingHeaders) : []),
    ...(pollable !== undefined ? Object.keys(pollingHeaders) : []),
  ]
  if (names.length === 0) return {}
  return {
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  }
}

const sharedSchemas = {
  Error: {
    type: 'object',
    description:
      'A refusal in one of these forms: `message` (a text, a list, or texts by attribute), `error` for parameters and ' +
      'addresses, `error` with `error_description` for tokens, and `errors` for what cannot be imported.',
    properties: {
      message: {
        anyOf: [
          { type: 'string' },
          { type: 'array', items: { type: 'string' } },
          { type: 'object', additionalProperties: true },
        ],
      },
      error: { type: 'string' },
      error_description: { type: 'string' },
      errors: { type: 'string' },
      scope: { type: 'string' },
    },
  },
}

const usualRefusals = {
  400: 'A parameter is missing or wrong, or a rule of the resource is broken.',
  401: 'No credentials where a user is needed, or credentials that are unknown, expired or revoked.',
  403: 'Visible, but not allowed; or the scope of the token is too small.',
  404: 'It does not exist, or the caller must not know of it.',
  405: 'Keyset pagination is not available here; or the project has moved: only GET and HEAD are led to its new place.',
  413: 'The body is too large.',
  415: 'The type of the body is not one that can be read.',
} as const

function refusal(description: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } }
}

/** The statuses that follow from the declaration, and those it names itself. */
function refusals(route: Route): Json {
  const { endpoint, params } = route
  const { method } = endpoint
  const on = kindOf(endpoint)
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const implied = {
    400: Object.keys(params.properties).length > 0,
    401: !isMachine(endpoint),
    403: isMachine(endpoint) || endpoint.anonymous !== true || (endpoint.may as string) !== 'use_instance',
    404: on === 'project' || on === 'group' || endpoint.path.includes(':'),
    405: knowsOffsetsOnly(route) || (on === 'project' && method !== 'GET'),
    413: hasBody,
    415: hasBody && endpoint.body !== 'stream',
  }
  const own = Object.entries(endpoint.refuses ?? {}).map(([status, text]) => [status, refusal(text)])
  const usual = Object.entries(implied)
    .filter(([, applies]) => applies)
    .map(([status]) => [status, { $ref: `#/components/responses/${status}` }])
  return { ...Object.fromEntries(usual), ...Object.fromEntries(own) } as Json
}

const securitySchemes = {
  privateToken: {
    type: 'apiKey',
    in: 'header',
    name: 'PRIVATE-TOKEN',
    description: 'A personal, project or group access token.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same tokens, as a bearer.' },
  privateTokenParameter: {
    type: 'apiKey',
    in: 'query',
    name: 'private_token',
    description: 'The same tokens, as a parameter.',
  },
  jobToken: {
    type: 'apiKey',
    in: 'header',
    name: 'JOB-TOKEN',
    description: 'The token of a running CI job.',
  },
  runnerToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Runner-Token',
    description: 'The token of a runner; also taken as the parameter `token`.',
  },
}

function security(endpoint: Endpoint): Json[] {
  if (kindOf(endpoint) === 'runner') return [{ runnerToken: [] }]
  if (kindOf(endpoint) === 'job') return [{ jobToken: [] }]
  return [
    ...(endpoint.anonymous === true ? [{}] : []),
    { privateToken: [] },
    { bearer: [] },
    { privateTokenParameter: [] },
    ...(endpoint.jobToken === true ? [{ jobToken: [] }] : []),
  ]
}

const count = (description: string): Json => ({ description, schema: { type: 'string' } })

const pagingHeaders = {
  Link: count('Addresses of the neighbouring, first and last pages (RFC 8288).'),
  'X-Page': count('Number of this page.'),
  'X-Per-Page': count('Items a page.'),
  'X-Next-Page': count('Number of the next page; empty on the last.'),
  'X-Prev-Page': count('Number of the page before; empty on the first.'),
  'X-Total': count('Items in all; left out above 10,000.'),
  'X-Total-Pages': count('Pages in all; left out above 10,000 items.'),
}

const pollingHeaders = {
  'Poll-Interval': count('Milliseconds after which it is worth asking again; -1: not at all.'),
}

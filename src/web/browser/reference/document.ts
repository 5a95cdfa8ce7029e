import { nameOf, typesOf, type Schema } from '../schema.ts'

/** The OpenAPI document of the service, as far as the page shows it. */
export interface OpenApi {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Answer>>
  }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Param[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Answer | { readonly $ref: string }>>
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly 'x-ability': { readonly on: string; readonly may: string }
  readonly 'x-scopes'?: readonly string[]
  readonly 'x-plan'?: string
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

export interface Answer {
  readonly description: string
  readonly content?: Content
}

export interface Param {
  readonly name: string
  readonly in: 'path' | 'query' | 'body'
  readonly required?: boolean | undefined
  readonly description?: string | undefined
  readonly deprecated?: boolean | undefined
  readonly schema: Schema
}

export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export function endpointsOf({ paths }: OpenApi): Endpoint[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
}

/** Parameters of path, query and body alike: to the service they are one bag. */
export function paramsOf({ parameters = [], requestBody }: Operation, document: OpenApi): Param[] {
  const [content] = Object.values(requestBody?.content ?? {})
  const { properties = {}, required = [] } = resolve(content?.schema ?? {}, document)
  const inBody = Object.entries(properties).map(([name, schema]): Param => ({
    name,
    in: 'body',
    required: required.includes(name),
    description: schema.description,
    deprecated: schema.deprecated,
    schema,
  }))
  return [...parameters, ...inBody]
}

/** The schema itself, where it is a reference. */
export function resolve(schema: Schema, { components }: OpenApi): Schema {
  return schema.$ref === undefined ? schema : components.schemas[nameOf(schema.$ref)]!
}

/** A value of the schema's shape, to show what an answer looks like. */
export function example(schema: Schema, document: OpenApi, depth = 0): unknown {
  if (depth > 6) return null
  const {
    anyOf,
    examples,
    items = {},
    properties,
    additionalProperties,
    format = '',
    ...rest
  } = resolve(schema, document)
  if (anyOf !== undefined) return example(anyOf[0]!, document, depth)
  if (examples !== undefined) return examples[0]
  if (rest.default !== undefined) return rest.default
  if (rest.enum !== undefined) return rest.enum[0]
  const inner = (one: Schema): unknown => example(one, document, depth + 1)
  switch (typesOf(rest)[0]) {
    case 'object':
      if (properties === undefined) return additionalProperties ? { key: inner(additionalProperties) } : {}
      return Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, inner(property)]))
    case 'array':
      return [inner(items)]
    case 'string':
      return { 'date-time': '2026-02-03T09:41:07.512Z', date: '2026-02-03' }[format] ?? 'text'
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return false
    default:
      return null
  }
}

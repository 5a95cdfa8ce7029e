import { nounOf, pascal, singular } from './openapi-names.ts'
import type { Route } from './registry.ts'

/** JSON Schema as it goes into the document. */
export interface Schema {
  [keyword: string]: unknown
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: Schema | boolean
}

interface Shape {
  readonly schema: Schema
  uses: number
  /** Names it could have, the better ones first. */
  readonly byRoute: string[]
  readonly byKey: string[]
}

/**
 * The schemas of answers, those that are used more than once as named components. A shape is told by its properties,
 * which also its nullable and optional copies share.
 */
export class Components {
  readonly #names = new Map<object, string>()
  readonly schemas: Record<string, Schema> = {}

  constructor(routes: readonly Route[]) {
    const shapes = new Map<object, Shape>()
    for (const { endpoint } of routes) {
      if (endpoint.answers === null) continue
      const top = (endpoint.answers as Schema).items ?? (endpoint.answers as Schema)
      const noun = endpoint.method === 'GET' ? nounOf(endpoint.path) : undefined
      collect(endpoint.answers as Schema, shapes, '', (schema) => (schema === top ? noun : undefined))
    }
    const shared = [...shapes.values()].filter(({ uses }) => uses > 1)
    for (const { schema, byRoute, byKey } of shared) {
      this.#names.set(
        schema.properties!,
        this.#freeName(mostFrequent(byRoute) ?? mostFrequent(byKey) ?? 'Thing'),
      )
    }
    for (const { schema } of shared) {
      const name = this.#names.get(schema.properties!)!
      const { type: _type, ...rest } = this.#inline(schema)
      this.schemas[name] = { type: 'object', ...rest }
    }
  }

  /** The schema with references in the place of shared shapes. */
  write(schema: Schema): Schema {
    const name = schema.properties && this.#names.get(schema.properties)
    if (name === undefined) return this.#inline(schema)
    const reference = { $ref: `#/components/schemas/${name}` }
    return [schema.type].flat().includes('null') ? { anyOf: [reference, { type: 'null' }] } : reference
  }

  /** A named component of its own, as a reference. */
  add(name: string, schema: Schema): Schema {
    this.schemas[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  }

  #inline(schema: Schema): Schema {
    const written = { ...schema }
    if (schema.properties !== undefined) {
      written.properties = Object.fromEntries(
        Object.entries(schema.properties).map(([key, property]) => [key, this.write(property)]),
      )
    }
    if (schema.items !== undefined) written.items = this.write(schema.items)
    if (schema.anyOf !== undefined) written.anyOf = schema.anyOf.map((choice) => this.write(choice))
    if (typeof schema.additionalProperties === 'object') {
      written.additionalProperties = this.write(schema.additionalProperties)
    }
    return written
  }

  #freeName(name: string): string {
    const taken = new Set(this.#names.values())
    let free = name
    for (let number = 2; taken.has(free); number += 1) free = `${name}${number}`
    return free
  }
}

function collect(
  schema: Schema,
  shapes: Map<object, Shape>,
  key: string,
  nameByRoute: (schema: Schema) => string | undefined,
): void {
  if (schema.properties !== undefined) {
    const known = shapes.get(schema.properties)
    const shape = known ?? { schema, uses: 0, byRoute: [], byKey: [] }
    shapes.set(schema.properties, shape)
    shape.uses += 1
    const byRoute = nameByRoute(schema)
    if (byRoute !== undefined) shape.byRoute.push(byRoute)
    else if (key !== '') shape.byKey.push(pascal(singular(key)))
    // What lies inside was seen the first time.
    if (known !== undefined) return
    for (const [name, property] of Object.entries(schema.properties))
      collect(property, shapes, name, nameByRoute)
  }
  if (schema.items !== undefined) collect(schema.items, shapes, key, nameByRoute)
  for (const choice of schema.anyOf ?? []) collect(choice, shapes, key, nameByRoute)
  if (typeof schema.additionalProperties === 'object') {
    collect(schema.additionalProperties, shapes, key, nameByRoute)
  }
}

function mostFrequent(names: readonly string[]): string | undefined {
  const counts = Map.groupBy(names, (name) => name)
  return [...counts.entries()].toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0]
}

export type Constant = string | number | boolean | null

/** A JSON Schema, as far as the service writes them. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly Constant[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | false
  readonly required?: readonly string[]
  readonly format?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly description?: string
  readonly deprecated?: boolean
}

export function typesOf({ type = [] }: Schema): readonly string[] {
  return [type].flat()
}

/** In a few words: `integer`, `list of text`, `"asc" | "desc"`. */
export function typeText(schema: Schema): string {
  const { $ref, anyOf, enum: values, items = {}, properties, format = '' } = schema
  if ($ref !== undefined) return nameOf($ref)
  if (anyOf !== undefined) return anyOf.map(typeText).join(' or ')
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  const types = typesOf(schema)
  if (types.length === 0) return 'any'
  return types
    .map((type) => {
      if (type === 'array') return `list of ${typeText(items)}`
      if (type === 'string') return formats[format] ?? 'text'
      if (type === 'object' && properties !== undefined)
        return `hash of ${Object.keys(properties).join(', ')}`
      return words[type] ?? type
    })
    .join(' or ')
}

const words: Readonly<Record<string, string>> = { object: 'hash', boolean: 'true or false' }

const formats: Readonly<Record<string, string>> = { 'date-time': 'time', date: 'date', binary: 'file' }

/** Of a component, which is all that references lead to. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

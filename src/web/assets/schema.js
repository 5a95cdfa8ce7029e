/** A schema's type in a few words: `integer`, `list of text`, `"asc" | "desc"`. */
export function typeText(schema, document) {
  const { $ref, type, anyOf, items, format } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1)
  if (anyOf !== undefined) return anyOf.map((choice) => typeText(choice, document)).join(' or ')
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const types = [type ?? 'any'].flat()
  const named = types.map((one) => {
    if (one === 'array') return `list of ${typeText(items ?? {}, document)}`
    if (one === 'string') return { 'date-time': 'time', date: 'date', binary: 'file' }[format] ?? 'text'
    if (one === 'object' && schema.properties) return `hash of ${Object.keys(schema.properties).join(', ')}`
    return { object: 'hash', boolean: 'true or false', number: 'number', null: 'null' }[one] ?? one
  })
  return named.join(' or ')
}

/** The schema itself when it is a reference, which lead to components of the document only. */
export function resolve(schema, document) {
  return schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)]
}

/** A value of the schema's shape, to show what an answer looks like. */
export function example(schema, document, depth = 0) {
  if (depth > 6) return null
  const { type, anyOf, items, properties, additionalProperties, format, ...rest } =
    resolve(schema, document) ?? {}
  if (anyOf !== undefined) return example(anyOf[0], document, depth)
  if (rest.examples !== undefined) return rest.examples[0]
  if (rest.default !== undefined) return rest.default
  if (rest.enum !== undefined) return rest.enum[0]
  switch ([type].flat()[0]) {
    case 'object':
      return properties === undefined
        ? additionalProperties
          ? { key: example(additionalProperties, document, depth + 1) }
          : {}
        : Object.fromEntries(
            Object.entries(properties).map(([key, property]) => [
              key,
              example(property, document, depth + 1),
            ]),
          )
    case 'array':
      return [example(items ?? {}, document, depth + 1)]
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

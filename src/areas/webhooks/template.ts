/**
 * The body of a call by the template of its owner: `{{a.b.0}}` stands for what the payload holds there, texts without
 * their quotes, everything else as JSON. Undefined when the outcome is no JSON.
 */
export function renderTemplate(template: string, payload: object): string | undefined {
  const body = template.replace(/\{\{([^{}]+)\}\}/g, (_, path: string) => {
    const value = at(payload, path.trim().split('.'))
    if (value === undefined || value === null) return ''
    return typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value)
  })
  try {
    JSON.parse(body)
    return body
  } catch {
    return undefined
  }
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inside, key) =>
      typeof inside === 'object' && inside !== null && Object.hasOwn(inside, key)
        ? (inside as Record<string, unknown>)[key]
        : undefined,
    value,
  )
}

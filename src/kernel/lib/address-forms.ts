/** No part of the path of a project or group is `-`. */
const part = '(?!-/)[^/]+'

/** What each name takes of a path. */
const forms: Readonly<Record<string, string>> = {
  project: `${part}(?:/${part})+`,
  place: `${part}(?:/${part})*`,
  owner: part,
  ref: '.+?',
  path: '.+',
  name: '[^/]+',
  id: String.raw`\d+`,
  sha: '[0-9a-f]{7,64}',
  secret: '[0-9a-f]{32}',
}

/** A name in a form: `:project` in `/:project/-/jobs/:id`. */
export const slot = /:([a-z]+)/g

const longest = 4096

export interface AddressFound<T> {
  readonly value: T
  /** By the names in the form, as they stand in the address; `rest` is what `*` at its end takes, slashes and all. */
  readonly named: Readonly<Record<string, string>>
}

/**
 * Finds addresses by their form: `/:project/-/jobs/:id/artifacts/raw/*`. The first form that fits is taken. Names of
 * projects and groups have slashes.
 */
export function addressTable<T>(
  rows: readonly (readonly [form: string, value: T])[],
): (path: string) => AddressFound<T> | undefined {
  const table = rows.map(([form, value]) => ({ pattern: patternOf(form), value }))
  return (path) => {
    if (path.length > longest) return undefined
    for (const { pattern, value } of table) {
      const match = pattern.exec(path)
      if (match !== null) return { value, named: { ...match.groups } }
    }
    return undefined
  }
}

function patternOf(form: string): RegExp {
  const pattern = form
    .replace('.', String.raw`\.`)
    .replace(slot, (_, name: string) => `(?<${name}>${forms[name]!})`)
    .replace(/\*$/, '(?<rest>.+)')
  return new RegExp(`^${pattern}$`)
}

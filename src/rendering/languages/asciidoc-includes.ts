import path from 'node:path/posix'

/** A path from the root, or undefined for what lies outside of it. */
export function resolveInclude(folder: string, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined
  const joined = path.normalize(path.join(target.startsWith('/') ? '' : folder, target)).replace(/^\/+/, '')
  return joined === '' || joined === '.' || joined.startsWith('..') ? undefined : joined
}

/** The targets of the include directives of a text. */
export function includesOf(source: string): string[] {
  return [...source.matchAll(/^include::([^\s[\]][^[\]\n]{0,1000})\[[^\n]*\]\s*$/gm)].map(
    ([, target]) => target!,
  )
}

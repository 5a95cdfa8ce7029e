import type { FoundFile } from './find-site.ts'

export interface ServedFile {
  readonly path: string
  readonly content: string
  readonly start: number
  readonly size: number
  readonly digest: string
}

export type Choice =
  | { readonly kind: 'file'; readonly file: ServedFile }
  /** The address is that of a folder, without the slash at its end. */
  | { readonly kind: 'folder' }
  /** With the page of the site that says so, if it has one. */
  | { readonly kind: 'missing'; readonly page: ServedFile | undefined }

/** Which of the files an address means. `slash`: it ends with one. */
export function choose(found: readonly FoundFile[], slash: boolean): Choice {
  const longest = Math.max(...found.map(({ path_prefix }) => path_prefix.length))
  const files = found.filter(({ path_prefix }) => path_prefix.length === longest)
  const inside = files[0]?.inside ?? ''
  const named = (path: string): ServedFile | undefined =>
    files.find((file): file is FoundFile & ServedFile => file.path === path)
  const page = named('404.html')
  if (inside === '' || inside.endsWith('/')) {
    const index = named(`${inside}index.html`)
    if (index === undefined) return { kind: 'missing', page }
    return slash ? { kind: 'file', file: index } : { kind: 'folder' }
  }
  const file = named(inside) ?? named(`${inside}.html`)
  if (file !== undefined) return { kind: 'file', file }
  return named(`${inside}/index.html`) === undefined ? { kind: 'missing', page } : { kind: 'folder' }
}

/** What a client of large files asks for under the address of a repository. */
export type LfsCall =
  | { readonly kind: 'batch' | 'locks' | 'verify-locks' }
  | { readonly kind: 'unlock'; readonly id: number }
  /** `size` in bytes, of what is brought. */
  | { readonly kind: 'object'; readonly oid: string; readonly size: number | undefined }

export interface LfsAddress {
  /** Of the project, without `.git`. */
  readonly fullPath: string
  readonly call: LfsCall
}

// What users, groups and projects may be called; so no text that the database would refuse gets further than this.
const place = /^\/((?:[\p{L}\p{N}_.-]+\/)+[\p{L}\p{N}_.-]+?)\.git\/info\/lfs\/(.+)$/u
const object = /^objects\/([0-9a-f]{64})(?:\/(\d{1,15}))?$/
const longest = 2048

/** Undefined for addresses of something else. */
export function readAddress(method: string, path: string): LfsAddress | undefined {
  if (path.length > longest) return undefined
  const [, fullPath, rest] = place.exec(decoded(path)) ?? []
  if (fullPath === undefined || rest === undefined) return undefined
  const call = readCall(method, rest)
  return call && { fullPath, call }
}

function readCall(method: string, rest: string): LfsCall | undefined {
  if (method === 'POST') {
    if (rest === 'objects/batch') return { kind: 'batch' }
    if (rest === 'locks') return { kind: 'locks' }
    if (rest === 'locks/verify') return { kind: 'verify-locks' }
    const id = /^locks\/(\d{1,15})\/unlock$/.exec(rest)?.[1]
    return id === undefined ? undefined : { kind: 'unlock', id: Number(id) }
  }
  if (method === 'GET' && rest === 'locks') return { kind: 'locks' }
  const [, oid, size] = object.exec(rest) ?? []
  if (oid === undefined || (method !== 'GET' && method !== 'PUT')) return undefined
  if ((method === 'PUT') !== (size !== undefined)) return undefined
  return { kind: 'object', oid, size: size === undefined ? undefined : Number(size) }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}

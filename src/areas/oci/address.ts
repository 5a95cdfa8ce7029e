import { parseDigest, type Digest } from '../../blobs/index.ts'
import { digestInvalid, RegistryError } from './errors.ts'

/** A manifest by one of its tags, or by its digest. */
export type Reference = { readonly tag: string } | { readonly digest: Digest }

/** What an address below `/v2/` means. */
export type Address =
  | { readonly kind: 'base' | 'catalog' }
  | { readonly kind: 'tags' | 'uploads'; readonly name: string }
  | { readonly kind: 'upload'; readonly name: string; readonly id: string }
  | { readonly kind: 'blob' | 'referrers'; readonly name: string; readonly digest: Digest }
  | { readonly kind: 'manifest'; readonly name: string; readonly reference: Reference }

const namePattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/
const tagPattern = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/
const uploadPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const longestName = 255

const place =
  /^\/v2\/(.+)\/(?:(tags\/list)|(blobs\/uploads)\/?|blobs\/uploads\/([^/]+)|(blobs|manifests|referrers)\/([^/]+))$/

export function isName(text: string): boolean {
  return text.length <= longestName && namePattern.test(text)
}

/** Undefined for addresses of nothing here; refuses those with a name, digest or tag that cannot be one. */
export function readAddress(path: string): Address | undefined {
  if (path === '/v2/' || path === '/v2') return { kind: 'base' }
  if (path === '/v2/_catalog') return { kind: 'catalog' }
  const [, name, tags, uploads, upload, kind, last = ''] = place.exec(decoded(path)) ?? []
  if (name === undefined) return undefined
  if (!isName(name)) {
    throw new RegistryError(400, 'NAME_INVALID', 'invalid repository name', { detail: { name } })
  }
  if (tags !== undefined) return { kind: 'tags', name }
  if (uploads !== undefined) return { kind: 'uploads', name }
  if (upload !== undefined) {
    if (!uploadPattern.test(upload)) {
      throw new RegistryError(404, 'BLOB_UPLOAD_UNKNOWN', 'blob upload unknown to registry')
    }
    return { kind: 'upload', name, id: upload }
  }
  if (kind === 'manifests') return { kind: 'manifest', name, reference: readReference(last) }
  return { kind: kind === 'blobs' ? 'blob' : 'referrers', name, digest: readDigest(last) }
}

export function readDigest(text: string): Digest {
  const digest = parseDigest(text)
  if (digest === undefined) throw digestInvalid('not a digest of sha256 or sha512')
  return digest
}

function readReference(text: string): Reference {
  if (text.includes(':')) return { digest: readDigest(text) }
  if (tagPattern.test(text)) return { tag: text }
  throw new RegistryError(404, 'MANIFEST_UNKNOWN', 'neither a tag nor a digest')
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}

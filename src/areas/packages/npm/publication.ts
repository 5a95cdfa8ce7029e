import { badRequest } from '../../../kernel/errors/index.ts'
import { parseJson } from '../../../kernel/endpoint/json-body.ts'
import type { StoredFile } from '../content.ts'
import { fileOfTarball } from '../tarball.ts'
import type { Blobs } from '../../../blobs/index.ts'
import { checkTag, checkVersion, manifestOf } from './rules.ts'
import type { Upload } from './upload.ts'

type Bag = Readonly<Record<string, unknown>>

export interface NewVersion {
  readonly version: string
  readonly tags: readonly string[]
  readonly manifest: Record<string, unknown>
}

const objectAt = (bag: Bag, key: string): Bag => {
  const value = bag[key] ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) throw badRequest(`${key} is invalid`)
  return value as Bag
}

/** The reasons that a document gives for versions that are not to be used, which is all that `npm deprecate` sends. */
export function deprecations(document: Bag): ReadonlyMap<string, string> {
  const versions = objectAt(document, 'versions')
  const reasons = new Map<string, string>()
  for (const version of Object.keys(versions)) {
    const reason = objectAt(versions, version)['deprecated']
    if (typeof reason === 'string' && reason.length <= 10_000) reasons.set(version, reason)
  }
  return reasons
}

/** The one version that a document publishes, held against the tarball that came with it. */
export async function newVersion(
  name: string,
  { document, tarballs }: Upload<StoredFile>,
  blobs: Blobs,
): Promise<NewVersion> {
  const versions = objectAt(document, 'versions')
  const [version, ...others] = Object.keys(versions)
  if (version === undefined || others.length > 0) throw badRequest('versions must have one entry')
  checkVersion(version)
  const manifest = objectAt(versions, version)
  for (const said of [document['name'] ?? document['_id'], manifest['name']])
    if (said !== undefined && said !== name) throw badRequest('name is not that of the address')
  const tags = Object.entries(objectAt(document, 'dist-tags'))
  for (const [tag, target] of tags) {
    checkTag(tag)
    if (target !== version) throw badRequest('dist-tags must lead to the version that is published')
  }

  const { stored, integrity } = tarballs[0]!
  const dist = objectAt(manifest, 'dist')
  const differs = (told: unknown, is: string) => told !== undefined && told !== is
  if (differs(dist['shasum'], stored.sha1)) throw badRequest('dist.shasum is not that of the tarball')
  const told = dist['integrity']
  if (typeof told === 'string' && told.startsWith('sha512-') && told !== integrity)
    throw badRequest('dist.integrity is not that of the tarball')
  const inside = parseJson(await fileOfTarball(blobs.read(stored.digest), /^[^/]+\/package\.json$/))
  if (inside['name'] !== name || inside['version'] !== version)
    throw badRequest('The package.json of the tarball is of another package')
  return { version, tags: tags.map(([tag]) => tag), manifest: manifestOf(manifest) }
}

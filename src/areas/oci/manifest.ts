import { parseDigest, type Digest } from '../../blobs/index.ts'
import { manifestInvalid } from './errors.ts'

/** Bytes; what the specification asks registries to take. */
export const largestManifest = 4 * 1024 * 1024

/** What the registry needs to know of a manifest. */
export interface Manifest {
  readonly mediaType: string
  readonly artifactType: string | null
  readonly annotations: Readonly<Record<string, string>> | null
  readonly subject: Digest | null
  readonly config: Digest | null
  /** Content it is made of, its configuration included. */
  readonly blobs: readonly Digest[]
  /** The layers, whose sizes are the size of the image. */
  readonly layers: readonly Digest[]
  /** Of an index: what it lists. Old caches list blobs here. */
  readonly children: readonly Digest[]
}

const images = new Set([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
])
const indexes = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
])
/** Layers that lie elsewhere by their licence; the manifest tells where. */
const foreign =
  /^application\/vnd\.(?:docker\.image\.rootfs\.foreign\.|oci\.image\.layer\.nondistributable\.)/

type Bag = Readonly<Record<string, unknown>>

/** Reads a manifest of the type that it was sent as; throws the refusal of what is none. */
export function readManifest(content: Uint8Array, contentType: string | undefined): Manifest {
  const bag = readObject(content)
  const sentAs = contentType?.split(';', 1)[0]!.trim().toLowerCase()
  const mediaType = bag['mediaType'] ?? sentAs
  if (typeof mediaType !== 'string' || mediaType === '')
    throw manifestInvalid('the manifest has no media type')
  if (sentAs !== undefined && sentAs !== '' && sentAs !== mediaType) {
    throw manifestInvalid(`mediaType is ${mediaType}, but it was sent as ${sentAs}`)
  }
  if (!images.has(mediaType) && !indexes.has(mediaType)) {
    throw manifestInvalid(`manifests of type ${mediaType} are not known here`)
  }
  if (bag['schemaVersion'] !== 2) throw manifestInvalid('schemaVersion is not 2')
  const common = {
    mediaType,
    annotations: readAnnotations(bag['annotations']),
    subject:
      bag['subject'] === undefined || bag['subject'] === null
        ? null
        : descriptor(bag['subject'], 'subject').digest,
  }
  const artifactType = readArtifactType(bag['artifactType'])
  if (indexes.has(mediaType)) {
    const children = descriptors(bag['manifests'], 'manifests').map(({ digest }) => digest)
    return { ...common, artifactType, config: null, blobs: [], layers: [], children: unique(children) }
  }
  const config = descriptor(bag['config'], 'config')
  const layers = descriptors(bag['layers'] ?? [], 'layers')
    .filter((layer) => !(foreign.test(layer.mediaType) && layer.urls > 0))
    .map(({ digest }) => digest)
  return {
    ...common,
    artifactType: artifactType ?? config.mediaType,
    config: config.digest,
    blobs: unique([config.digest, ...layers]),
    layers,
    children: [],
  }
}

function readObject(content: Uint8Array): Bag {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content))
  } catch {
    throw manifestInvalid('the manifest is not JSON')
  }
  if (!isBag(value)) throw manifestInvalid('the manifest is not a JSON object')
  return value
}

function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readAnnotations(value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return null
  const fits = isBag(value) && Object.values(value).every((text) => typeof text === 'string')
  // A database knows no NUL in a text.
  if (!fits || JSON.stringify(value).includes('\\u0000'))
    throw manifestInvalid('annotations are texts by name')
  return value as Record<string, string>
}

function readArtifactType(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string' || value.includes('\0')) throw manifestInvalid('artifactType is not a text')
  return value
}

function descriptors(value: unknown, name: string): ReturnType<typeof descriptor>[] {
  if (!Array.isArray(value)) throw manifestInvalid(`${name} is not a list`)
  return value.map((one: unknown, index) => descriptor(one, `${name}[${index}]`))
}

function descriptor(value: unknown, name: string): { mediaType: string; digest: Digest; urls: number } {
  const bag = isBag(value) ? value : {}
  const { mediaType, size, urls } = bag
  const digest = typeof bag['digest'] === 'string' ? parseDigest(bag['digest']) : undefined
  if (
    typeof mediaType !== 'string' ||
    mediaType.includes('\0') ||
    digest === undefined ||
    !Number.isSafeInteger(size)
  ) {
    throw manifestInvalid(`${name} has no mediaType, digest or size`)
  }
  return { mediaType, digest, urls: Array.isArray(urls) ? urls.length : 0 }
}

function unique(digests: readonly Digest[]): Digest[] {
  return [...new Set(digests)]
}

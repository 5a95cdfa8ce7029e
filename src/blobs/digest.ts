import { createHash, type Hash } from 'node:crypto'

/** The name of content after what is in it: `sha256:…` or `sha512:…`, the hex in small letters. */
export type Digest = `${Algorithm}:${string}`
export type Algorithm = 'sha256' | 'sha512'

const shapes: Readonly<Record<Algorithm, RegExp>> = {
  sha256: /^sha256:[0-9a-f]{64}$/,
  sha512: /^sha512:[0-9a-f]{128}$/,
}

/** Undefined for any other text. */
export function parseDigest(text: string): Digest | undefined {
  return shapes.sha256.test(text) || shapes.sha512.test(text) ? (text as Digest) : undefined
}

export function algorithmOf(digest: Digest): Algorithm {
  return digest.startsWith('sha512:') ? 'sha512' : 'sha256'
}

export function hexOf(digest: Digest): string {
  return digest.slice('sha256:'.length)
}

export function digestOf(content: Uint8Array, algorithm: Algorithm = 'sha256'): Digest {
  return finished(createHash(algorithm).update(content), algorithm)
}

export function finished(hash: Hash, algorithm: Algorithm): Digest {
  return `${algorithm}:${hash.digest('hex')}`
}

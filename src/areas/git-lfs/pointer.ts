import type { Digest } from '../../blobs/index.ts'

/** A large file as a commit has it: what stands for its content. */
export interface Pointer {
  /** SHA-256 of the content in hex. */
  readonly oid: string
  /** Bytes. */
  readonly size: number
}

/** As content is named where it is kept. */
export function digestOfOid(oid: string): Digest {
  return `sha256:${oid}` as Digest
}

/** Bytes from which on a file is no pointer. */
export const largestPointer = 200

const form =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-\d-[^\n]+\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n?$/

/** Undefined for a file that is what it is. */
export function readPointer(content: Buffer): Pointer | undefined {
  if (content.length >= largestPointer) return undefined
  const [, oid, size] = form.exec(content.toString('latin1')) ?? []
  return oid === undefined ? undefined : { oid, size: Number(size) }
}

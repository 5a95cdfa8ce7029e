import type { JobUser } from './job-user.ts'

/** What the archiving child is asked; descriptors are the child's own numbers. */
export type ArchiveRequest = { user: JobUser | undefined; project: string } & (
  { act: 'pack'; packs: PackRequest[] } | { act: 'unpack'; descriptors: number[] }
)

export interface PackRequest {
  descriptor: number
  format: 'zip' | 'gzip' | 'raw'
  paths: string[]
  exclude: string[]
  untracked: boolean
  level: number
}

export interface PackResult {
  /** Files and folders in the archive; none when nothing matched. */
  entries: number
  /** Path of the only file, of `raw` and `gzip`. */
  name: string | undefined
}

export type ArchiveMessage =
  { line: string } | { warning: string } | { packed: PackResult[] } | { unpacked: true } | { failed: string }

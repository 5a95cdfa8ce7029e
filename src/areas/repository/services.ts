import type { Readable } from 'node:stream'
import type { Actor, ProjectSubject } from '../../access/index.ts'
import type { Oid } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { RefDoor } from './door.ts'
import type { RepositoryPlaces } from './places.ts'

/** What this area is built from. */
export interface RepositoryServices {
  readonly db: Database
  readonly log: Logger
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly externalUrl: () => string
  readonly largeFiles: LargeFileSource
  /** Notes that somebody fetches code; true: it was too much, and he is shut out. */
  readonly noteDownload: (actor: Actor, projectId: number) => Promise<boolean>
  /** What CI says of a commit; undefined where nothing ran. */
  readonly lastPipelineOf: (project: ProjectSubject, sha: Oid) => Promise<CommitPipeline | undefined>
}

/** Files whose content lies beside the repository, and in it only what stands for them. */
export interface LargeFileSource {
  /** Bytes from which on a file stands for nothing but itself. */
  readonly smallerThan: number
  /** Whether a project may have any. */
  readonly mayHold: (projectId: number) => Promise<boolean>
  /** The content that a file of a project stands for; undefined for a file that is what it is, or content that is not there. */
  readonly find: (projectId: number, file: Buffer) => Promise<LargeFile | undefined>
}

export interface LargeFile {
  readonly oid: string
  /** Bytes. */
  readonly size: number
  readonly read: (range?: { readonly start: number; readonly end: number }) => Promise<Readable>
}

export interface CommitPipeline {
  readonly status: string
  /** As it is shown. */
  readonly pipeline: unknown
}

/** Address of a project's page. */
export function projectUrl({ externalUrl }: RepositoryServices, { fullPath }: ProjectSubject): string {
  return `${externalUrl()}/${fullPath}`
}

import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { archiveAnswers } from './archive-answer.ts'
import { mergedDeletion } from './delete-merged.ts'
import { housekeeping } from './housekeeping.ts'
import { branchEndpoints } from './routes/branches.ts'
import { changelogEndpoints } from './routes/changelog.ts'
import { submoduleEndpoints } from './routes/submodules.ts'
import { commitEndpoints } from './routes/commits.ts'
import { commitWritingEndpoints } from './routes/commits-writing.ts'
import { diffEndpoints } from './routes/diffs.ts'
import { fileEndpoints } from './routes/files.ts'
import { fileWritingEndpoints } from './routes/files-writing.ts'
import { healthEndpoints } from './routes/health.ts'
import { historyEndpoints } from './routes/history.ts'
import { housekeepingEndpoints } from './routes/housekeeping.ts'
import { objectEndpoints } from './routes/objects.ts'
import { oldProtectionEndpoints } from './routes/old-protection.ts'
import { pickingEndpoints } from './routes/picking.ts'
import { signatureEndpoints } from './routes/signature.ts'
import { tagEndpoints } from './routes/tags.ts'
import type { RepositoryServices } from './services.ts'
import { staticObjects, type StaticObjectServices } from './static-objects.ts'

export { rawAnswer } from './blob-answer.ts'
export { chooseStorage } from './choose-storage.ts'
export { Commit, commitEntity } from './commit-entity.ts'
export {
  commitChange,
  committerOf,
  openTarget,
  requirePush,
  signatures,
  type WritePlace,
  type Writer,
} from './committing.ts'
export { Diff, diffEntity, diffLimits } from './diff-entity.ts'
export {
  moving as beingMoved,
  RefDoor,
  type DoorProject,
  type DoorRules,
  type Mover,
  movesBranch,
  type PushEvent,
} from './door.ts'
export { readFileAt } from './file-at.ts'
export { byteRange } from './byte-range.ts'
export { contentDisposition } from './header-text.ts'
export type { Hosted, Receiving } from './hosted.ts'
export { commitNamed, readable, refsOf, resolveName, type ReadProject } from './looking.ts'
export { bringCommits } from './networks.ts'
export type { LargeFile, LargeFileSource } from './services.ts'
export { sizeGuard, sizeProblem } from './size-limit.ts'
export { whoMoved } from './who-moved.ts'
export { placedProject, RepositoryPlaces, type PlacedProject, type PlacedRepository } from './places.ts'

/** Code: files, commits, branches and tags of projects. */
export function repository(services: Omit<StaticObjectServices, 'archiveAnswer'>): {
  endpoints: Endpoint[]
  /** For who answers the addresses of projects: raw files and archives. */
  neighbour: ReturnType<typeof staticObjects>
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const { tasks, schedules } = housekeeping(services)
  const archiveAnswer = archiveAnswers(services)
  return {
    endpoints: [
      ...branchEndpoints(services),
      ...oldProtectionEndpoints(services),
      ...tagEndpoints(services),
      ...commitEndpoints(services),
      ...commitWritingEndpoints(services),
      ...pickingEndpoints(services),
      ...diffEndpoints(services),
      ...historyEndpoints(services),
      ...signatureEndpoints(services),
      ...fileEndpoints(services),
      ...fileWritingEndpoints(services),
      ...objectEndpoints(services, archiveAnswer),
      ...housekeepingEndpoints(services),
      ...healthEndpoints(services),
      ...changelogEndpoints(services),
      ...submoduleEndpoints(services),
    ],
    neighbour: staticObjects({ ...services, archiveAnswer }),
    tasks: [...tasks, mergedDeletion(services)],
    schedules,
    start: () => recoverAtStart(services),
  }
}

/** Settles beside the first requests what a crash has left. */
async function recoverAtStart({ door, log }: RepositoryServices): Promise<AsyncDisposable> {
  const recovering = door.recover().catch((error: unknown) => {
    log.warn({ err: error }, 'could not settle the ref updates of a crash')
  })
  return { [Symbol.asyncDispose]: () => recovering }
}

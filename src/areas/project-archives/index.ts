import path from 'node:path'
import { Blobs } from '../../blobs/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { exportProject } from './export-project.ts'
import { importProject } from './import-project.ts'
import { removeLeftFolders } from './pack.ts'
import { archiveEndpoints, exportTask, importTask } from './routes.ts'
import type { ArchiveRoom, ArchiveServices } from './services.ts'
import * as store from './store.ts'

// What archives of other things are made and read with, too.
export { readArchiveForm } from './archive-form.ts'
export {
  checkIssue,
  checkLabel,
  checkMilestone,
  checkProject,
  checkProtectedBranch,
} from './check-records.ts'
export { noteExport } from './note-export.ts'
export { bundles, formatVersion, relations } from './format.ts'
export type {
  BundleName,
  LabelRecord,
  MilestoneRecord,
  ProtectedBranchRecord,
  RelationName,
} from './format.ts'
export { idsBehind, readProject, readRelation } from './read-project.ts'
export { RecordFault, reader as recordReader } from './record-reader.ts'
export { standIn } from './stand-in.ts'
export { describe as describeProject } from './store.ts'
export { linesOf, openFolder, packIn, removeLeftFolders } from './pack.ts'
export { batches, type Taken } from './read-records.ts'
export { taking, takers, type RecordFile, type Taker } from './takers.ts'
export { ArchiveFault, gunzipTo, unpack } from './unpack.ts'
export type { Target } from './target.ts'
export { bundleIn, takeBundle } from './bundles.ts'
export { fileRelations, filesOf, isFileOf, takeFiles, type FileRelation, type FileRoom } from './files.ts'
export { linksIn, type Relink } from './links.ts'
export { allowed as allowedVisibility } from './import-project.ts'
export { takeMergeRequests } from './take-merge-requests.ts'
export { writeIssues, writeLabels, writeMilestones, writeProtectedBranches } from './write-project.ts'

const forgetting = 'projects:forget-exports'
/** Hours that an archive can be downloaded for. */
const kept = 24
const hour = 3_600_000
const day = 24 * hour

/** Projects as files: written, and made into projects again. */
export function projectArchives(services: ArchiveServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const folder = path.join(services.dataDirectory, 'archives')
  const room: ArchiveRoom = {
    ...services,
    blobs: new Blobs(folder),
    workplace: path.join(folder, 'work'),
  }
  const projectOf = (payload: unknown): number => (payload as { project: number }).project
  return {
    endpoints: archiveEndpoints(room),
    tasks: [
      { name: exportTask, run: (payload) => exportProject(room, projectOf(payload)) },
      { name: importTask, run: (payload) => importProject(room, projectOf(payload)) },
      {
        name: forgetting,
        async run() {
          const { db } = services
          await store.forgetExports(db.writer, kept)
          // Not sooner: an archive that is like another may have come, and nothing names it yet.
          await room.blobs.removeUnneeded(hour, (digests) => store.needed(db.writer, digests))
          await room.blobs.removeLeftovers(day)
          await removeLeftFolders(room.workplace, day)
        },
      },
    ],
    schedules: [{ task: forgetting, pattern: '40 * * * *' }],
  }
}

import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { isAdministrator, visibilityName, type Actor } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { takeBundle } from './bundles.ts'
import { checkProject } from './check-records.ts'
import { fetchArchive } from './fetch-archive.ts'
import { fileRelations, takeFiles } from './files.ts'
import { bundleNames, bundles, formatVersion, isKnown, type RelationName } from './format.ts'
import { openFolder } from './pack.ts'
import type { Taken } from './read-records.ts'
import type { ArchiveRoom } from './services.ts'
import { standIn } from './stand-in.ts'
import * as store from './store.ts'
import { linksIn } from './links.ts'
import { takeMergeRequests } from './take-merge-requests.ts'
import { takers } from './takers.ts'
import { ArchiveFault, unpack } from './unpack.ts'

const mebibyte = 1024 * 1024
/** Records that could not be taken, of which it is told. */
const mostFailed = 100

/** Fills a new project with what an archive holds. What is wrong with the archive is told by the status. */
export async function importProject(room: ArchiveRoom, projectId: number): Promise<void> {
  const { db, blobs, log } = room
  const wanted = await store.findImport(db.reader, projectId)
  if (wanted === undefined || (wanted.digest === null && wanted.url === null)) return
  const taken: Taken = { failed: [], counts: {} }
  let error: string | null = null
  try {
    if (wanted.status === 'started') throw new ArchiveFault('The import was interrupted.')
    await store.setImportStatus(db.writer, projectId, 'started')
    const digest = wanted.digest ?? (await fetchArchive(room, wanted.url!))
    await fill(room, projectId, wanted.userId, blobs.read(digest), taken)
  } catch (problem) {
    if (!(problem instanceof ArchiveFault)) log.warn({ err: problem, project: projectId }, 'an import failed')
    error = problem instanceof ArchiveFault ? problem.message : 'The import failed.'
  }
  const { failed, counts } = taken
  const fetched = Object.fromEntries(
    Object.entries(counts).map(([name, { fetched: count }]) => [name, count]),
  )
  const imported = Object.fromEntries(
    Object.entries(counts).map(([name, { imported: count }]) => [name, count]),
  )
  await db.transaction((tx) =>
    store.endImport(tx, projectId, {
      error,
      failed: failed.slice(0, mostFailed),
      stats: { fetched, imported },
    }),
  )
}

async function fill(
  room: ArchiveRoom,
  projectId: number,
  userId: number | null,
  archive: Readable,
  taken: Taken,
): Promise<void> {
  const { db } = room
  const { max_decompressed_archive_size: size, decompress_archive_file_timeout: seconds } =
    room.settings.values
  await using folder = await openFolder(room.workplace)
  const found = await unpack(archive, folder.path, {
    known: isKnown,
    size: size === 0 ? undefined : size * mebibyte,
    time: seconds === 0 ? undefined : seconds * 1000,
  })
  const place = (name: string) => found.get(name)!
  const version = found.has('VERSION') ? await readFile(place('VERSION'), 'utf8') : ''
  if (version.trim() !== formatVersion) throw new ArchiveFault('The archive has a version that is not known.')
  const stand = async () => {
    const standing = await standIn(db, userId, projectId)
    if (standing === undefined) throw new ArchiveFault('Who asked for the import may not make it any more.')
    return standing
  }
  const { actor } = await stand()
  const target = { projectId, importerId: actor.user!.id, asOthers: isAdministrator(actor) }

  const relink = linksIn(room, projectId)
  const fileOf = (relation: RelationName) => {
    const name = `tree/${relation}.ndjson`
    return found.has(name) ? { file: place(name), relation, taken, relink } : undefined
  }
  const take = async (tx: Tx, relation: keyof typeof takers): Promise<void> => {
    const records = fileOf(relation)
    if (records !== undefined) await takers[relation](tx, target, records)
  }
  for (const relation of fileRelations) await takeFiles(room, relation, target, found, taken)
  const record = found.has('project.json')
    ? parseProject(await readFile(place('project.json'), 'utf8'))
    : undefined
  await db.transaction(async (tx) => {
    if (record !== undefined)
      await store.describe(tx, projectId, { ...record, visibility: allowed(room, actor, record) })
    await take(tx, 'labels')
    await take(tx, 'milestones')
    await take(tx, 'issues')
  })
  for (const which of bundleNames) {
    if (!found.has(bundles[which])) continue
    // Anew each time: the project has other refs by then.
    await takeBundle(room, await stand(), which, {
      file: place(bundles[which]),
      defaultBranch: record?.default_branch ?? 'main',
    })
  }
  const requests = fileOf('merge_requests')
  if (requests !== undefined) await takeMergeRequests(room, await stand(), target, requests)
  await db.transaction(async (tx) => {
    for (const relation of ['releases', 'badges', 'protected_branches', 'protected_tags'] as const)
      await take(tx, relation)
  })
}

function parseProject(text: string) {
  try {
    return checkProject(JSON.parse(text))
  } catch (error) {
    throw new ArchiveFault(
      `The project of the archive is not usable: ${(error as Error).message.slice(0, 200)}`,
    )
  }
}

/** Levels that the instance keeps to itself are not taken over. */
export function allowed(
  { settings }: Pick<ArchiveRoom, 'settings'>,
  actor: Actor,
  { visibility }: { readonly visibility: number },
): number {
  const restricted = settings.values.restricted_visibility_levels
  return isAdministrator(actor) || !restricted.includes(visibilityName(visibility)) ? visibility : 0
}

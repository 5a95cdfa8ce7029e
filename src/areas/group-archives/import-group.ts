import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { isAdministrator, visibilityName, type Actor } from '../../access/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import { createGroup } from '../groups/index.ts'
import { ArchiveFault, batches, openFolder, unpack, type Taken } from '../project-archives/index.ts'
import { checkGroup } from './check.ts'
import { fileOf, formatVersion, knownFiles, type GroupRecord } from './format.ts'
import { standIn, type GroupArchiveRoom } from './services.ts'
import * as store from './store.ts'
import { takers } from './takers.ts'

const mebibyte = 1024 * 1024
/** Records that could not be taken, of which it is told. */
const mostFailed = 100

/** Fills a new group with what an archive holds. What is wrong with the archive is told by the status. */
export async function importGroup(room: GroupArchiveRoom, groupId: number): Promise<void> {
  const { db, blobs, log } = room
  const wanted = await store.findImport(db.reader, groupId)
  if (wanted?.digest == null) return
  const taken: Taken = { failed: [], counts: {} }
  let error: string | null = null
  try {
    if (wanted.status === 'started') throw new ArchiveFault('The import was interrupted.')
    await store.startImport(db.writer, groupId)
    await take(room, groupId, wanted.user_id, blobs.read(wanted.digest), taken)
  } catch (problem) {
    if (!(problem instanceof ArchiveFault)) log.warn({ err: problem, group: groupId }, 'an import failed')
    error = problem instanceof ArchiveFault ? problem.message : 'The import failed.'
  }
  await store.endImport(db.writer, groupId, { error, failed: taken.failed.slice(0, mostFailed) })
}

async function take(
  room: GroupArchiveRoom,
  groupId: number,
  userId: number | null,
  archive: Readable,
  taken: Taken,
): Promise<void> {
  const { db, settings } = room
  const { max_decompressed_archive_size: size, decompress_archive_file_timeout: seconds } = settings.values
  await using folder = await openFolder(room.workplace)
  const found = await unpack(archive, folder.path, {
    known: (name) => knownFiles.has(name),
    size: size === 0 ? undefined : size * mebibyte,
    time: seconds === 0 ? undefined : seconds * 1000,
  })
  const place = (name: string) => found.get(name)!
  const version = found.has('VERSION') ? await readFile(place('VERSION'), 'utf8') : ''
  if (version.trim() !== formatVersion) throw new ArchiveFault('The archive has a version that is not known.')
  const actor = await standIn(db, userId, groupId)
  if (actor === undefined) throw new ArchiveFault('Who asked for the import may not make it any more.')

  const groups = new Map([['', groupId]])
  if (found.has(fileOf('groups'))) {
    for await (const batch of batches(place(fileOf('groups')), 'groups', checkGroup, taken)) {
      for (const record of batch) await takeGroup(room, actor, groups, record, taken)
    }
  }
  const target = { groups, importerId: actor.user!.id, asOthers: isAdministrator(actor) }
  for (const relation of ['labels', 'milestones', 'epics', 'epic_parents'] as const) {
    const file = fileOf(relation === 'epic_parents' ? 'epics' : relation)
    if (!found.has(file)) continue
    // What is wrong with epics has been told when their parents' turn comes.
    const told = relation === 'epic_parents' ? { failed: [], counts: {} } : taken
    await db.transaction((tx) => takers[relation](tx, target, { file: place(file), relation, taken: told }))
  }
}

/** The group itself, which is there, or one below it, which is made. One that may not be is noted, with all below it. */
async function takeGroup(
  { db, settings }: GroupArchiveRoom,
  actor: Actor,
  groups: Map<string, number>,
  record: GroupRecord,
  { failed, counts }: Taken,
): Promise<void> {
  const { values } = settings
  const level = visibilityName(record.visibility)
  const kept = values.restricted_visibility_levels.includes(level) && !isAdministrator(actor)
  const visibility = kept ? 0 : record.visibility
  const known = groups.get(record.path)
  if (known !== undefined) {
    await db.transaction((tx) => store.describe(tx, known, { ...record, visibility }))
    return
  }
  const end = record.path.lastIndexOf('/')
  const parent = groups.get(record.path.slice(0, Math.max(0, end)))
  const fail = (message: string): void => {
    failed.push({ relation_name: 'groups', line: counts['groups']!.fetched, exception_message: message })
  }
  if (parent === undefined) {
    fail('the group above it is not there')
    return
  }
  try {
    const { name, description } = record
    const wanted = { name, path: record.path.slice(end + 1), parent_id: parent, description }
    const id = await createGroup({ db, settings: values }, actor, { ...wanted, visibility: 'private' })
    await db.transaction((tx) => store.describe(tx, id, { description, visibility }))
    groups.set(record.path, id)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    fail('it may not be made here')
  }
}

import { sql } from '../../kernel/db/index.ts'
import type { Actor, ProjectSubject } from '../../access/index.ts'
import { resolve, type Oid, type RefName, type Repository } from '../../git/index.ts'
import { computeVersion, keepCommits, pointAll, requestRef, withCommitters } from '../merge-requests/index.ts'
import { checkMergeRequest, checkSaid, type CheckedRequest } from './check-merge-requests.ts'
import { batches } from './read-records.ts'
import { RecordFault } from './record-reader.ts'
import type { ArchiveRoom } from './services.ts'
import type { RecordFile } from './takers.ts'
import type { Target } from './target.ts'
import { writeMergeRequests, type ReadyRequest, type ReadyVersion } from './write-merge-requests.ts'

type RequestRoom = Pick<ArchiveRoom, 'db' | 'settings' | 'places' | 'door' | 'externalUrl'>

interface Standing {
  readonly actor: Actor
  readonly subject: ProjectSubject
}

/** Versions of a request that are taken, the latest ones. */
const mostVersions = 200

/**
 * Takes merge requests whose commits are there. What they bring is found out anew from the commits, not believed. Some
 * at a time, each in a transaction of its own; those that there are stay as they are, so it may be done again.
 */
export async function takeMergeRequests(
  room: RequestRoom,
  { actor, subject }: Standing,
  target: Target,
  { file, relation, taken, relink }: RecordFile,
  signal?: AbortSignal,
): Promise<void> {
  const repository = room.places.of(subject)
  const numbered = (value: unknown) => ({
    line: taken.counts[relation]!.fetched,
    request: checkMergeRequest(value),
  })
  const linked = relink && ((lines: readonly string[]) => relink(room.db.writer, lines))
  for await (const records of batches(file, relation, numbered, taken, linked)) {
    const there = await findThere(room, target, records)
    const ready: ReadyRequest[] = []
    for (const { line, request } of records) {
      signal?.throwIfAborted()
      if (there.has(request.iid)) continue
      try {
        ready.push(await readyOf(room, repository, request))
        there.add(request.iid)
      } catch (error) {
        if (!(error instanceof RecordFault)) throw error
        taken.counts[relation]!.imported -= 1
        taken.failed.push({ relation_name: relation, line, exception_message: error.message.slice(0, 200) })
      }
    }
    await keep(room, subject, ready)
    await room.db.transaction((tx) => writeMergeRequests(tx, { actor, project: subject }, target, ready))
    taken.counts[relation]!.imported += records.length
  }
}

async function findThere(
  { db }: RequestRoom,
  { projectId }: Target,
  records: readonly { readonly request: CheckedRequest }[],
): Promise<Set<number>> {
  const { rows } = await sql<{ iid: number }>`
    select r.iid from merge_requests r
    where r.project_id = ${projectId} and r.iid = any (${records.map(({ request }) => request.iid)}::bigint[])`.execute(
    db.writer,
  )
  return new Set(rows.map(({ iid }) => iid))
}

async function readyOf(
  room: RequestRoom,
  repository: Repository,
  request: CheckedRequest,
): Promise<ReadyRequest> {
  const versions: ReadyVersion[] = []
  for (const { head, start, created_at } of request.versions.slice(-mostVersions)) {
    if (!(await isThere(repository, head)) || !(await isThere(repository, start))) continue
    const computed = await computeVersion(repository, { head, start }, room.settings.values.diff_max_files)
    versions.push({ ...(await withCommitters(room, computed)), created_at })
  }
  const latest = versions.at(-1)
  if (latest === undefined || latest.head !== request.versions.at(-1)!.head) {
    throw new RecordFault('has commits that are not there')
  }
  const known = new Set<string>(
    versions.flatMap(({ head, start, base, commits }) => [head, start, ...(base ? [base] : []), ...commits]),
  )
  const discussions = checkSaid(request, (oid) => known.has(oid))
  return { ...request, versions, latest, discussions }
}

const isThere = async (repository: Repository, oid: Oid): Promise<boolean> =>
  (await resolve(repository, oid)) === oid

/** Before the rows: what a crash leaves then is refs that nothing needs. */
async function keep(
  room: RequestRoom,
  project: ProjectSubject,
  ready: readonly ReadyRequest[],
): Promise<void> {
  await keepCommits(
    room,
    project,
    ready.flatMap(({ versions }) => versions.flatMap(({ head, base, start }) => [head, base, start])),
  )
  const heads = ready.map(({ iid, latest }): [RefName, Oid] => [requestRef(iid, 'head'), latest.head])
  await pointAll(room, project, heads)
}

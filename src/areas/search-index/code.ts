import { createHash } from 'node:crypto'
import {
  blobSize,
  branchRef,
  changedPaths,
  isAncestor,
  listCommitIds,
  listTree,
  looksBinary,
  parseOid,
  readBlob,
  readCommits,
  resolve,
  rootPath,
  type Oid,
  type Repository,
} from '../../git/index.ts'
import { wikiPageName } from '../wikis/index.ts'
import type { Action } from './bulk.ts'
import { ClusterFailure } from './cluster.ts'
import * as repositories from './repository-store.ts'
import type { Job, Placed } from './repository-store.ts'
import { patience, type IndexRoom } from './services.ts'
import { indexOf, type Generation } from './shape.ts'

/** The newest commits are those that are looked for. */
const mostCommits = 200_000
const commitsRead = 200
/** Of a message. */
const longestMessage = 100_000

/** Brings the main branch of a repository into the index: what changed since the commit that it has, or all. */
export async function runRepository(room: IndexRoom, job: Job, signal: AbortSignal): Promise<void> {
  const { db, keeper, settings, places } = room
  const generation = await keeper.generation({ begins: false })
  if (generation === undefined) return repositories.postpone(db.writer, job, 0.1)
  const version = await repositories.nextVersion(db.writer)
  const placed = await repositories.find(db.reader, settings.values, job)
  const head = placed?.indexed === true ? await headOf(places.of(placed), placed) : undefined
  const known = job.generation === generation.generation ? (job.commit ?? undefined) : undefined
  if (placed === undefined || head === undefined) {
    if (job.generation === generation.generation) await clear(room, generation, job, signal)
    if (placed === undefined) await repositories.drop(db.writer, job)
    else await repositories.finish(db.writer, job, generation, null)
  } else {
    const work = { room, job, placed, repository: places.of(placed), version, head, signal }
    if (known !== head) {
      const base = known === undefined ? undefined : parseOid(known)
      const continues = base !== undefined && (await isAncestor(work.repository, base, head))
      if (!continues && job.generation === generation.generation) await clear(room, generation, job, signal)
      await room.bulks.write(
        indexOf(generation, 'code'),
        actionsOf(work, continues ? base : undefined),
        signal,
      )
    }
    await repositories.finish(db.writer, job, generation, head)
  }
  await keeper.promote(generation)
}

async function headOf(
  repository: Repository,
  { defaultBranch, repositoryEmpty }: Placed,
): Promise<Oid | undefined> {
  const ref = defaultBranch === null || repositoryEmpty ? undefined : branchRef(defaultBranch)
  return ref === undefined ? undefined : resolve(repository, ref)
}

/** Removes all that the index has of a repository. */
async function clear(room: IndexRoom, generation: Generation, job: Job, signal: AbortSignal): Promise<void> {
  const index = indexOf(generation, 'code')
  const timeout = patience(room.settings)
  const mine =
    job.kind === 'code'
      ? [{ term: { project_id: job.recordId } }, { terms: { kind: ['blobs', 'commits'] } }]
      : [{ term: { wiki_id: job.recordId } }]
  // What was written a moment ago is not found before.
  await room.cluster.do({ method: 'POST', path: `/${index}/_refresh`, timeout, signal })
  const done = await room.cluster.do({
    method: 'POST',
    path: `/${index}/_delete_by_query?conflicts=proceed&refresh=true`,
    body: JSON.stringify({ query: { bool: { filter: mine } } }),
    timeout,
    signal,
  })
  if ((done as { timed_out?: unknown }).timed_out === true)
    throw new ClusterFailure('the search cluster did not remove what is gone')
}

interface Work {
  readonly room: IndexRoom
  readonly job: Job
  readonly placed: Placed
  readonly repository: Repository
  readonly version: number
  readonly head: Oid
  readonly signal: AbortSignal
}

async function* actionsOf(work: Work, base: Oid | undefined): AsyncGenerator<Action> {
  yield* filesOf(work, base)
  if (work.job.kind === 'code') yield* commitsOf(work, base)
}

const link = '120000'

async function* filesOf(work: Work, base: Oid | undefined): AsyncGenerator<Action> {
  const { repository, head } = work
  if (base === undefined) {
    const tree = await listTree(repository, head, rootPath, { recursive: true })
    for (const { type, mode, oid, path } of tree?.entries ?? [])
      if (type === 'blob' && mode !== link && belongs(work, path))
        yield fileAction(work, path, await fileDocument(work, path, oid))
    return
  }
  for (const { path, newMode, newOid } of await changedPaths(repository, base, head)) {
    if (!belongs(work, path)) continue
    const isFile = newMode !== link && newMode !== '000000' && newMode !== '160000'
    yield fileAction(work, path, isFile ? await fileDocument(work, path, newOid) : undefined)
  }
}

/** In the repository of a wiki lies more than its pages. */
const belongs = ({ job }: Work, path: string): boolean =>
  job.kind === 'code' || wikiPageName(path) !== undefined

function fileAction({ job, version }: Work, path: string, document: Action['document']): Action {
  // Paths may be longer than names of documents.
  const place = createHash('sha256').update(path).digest('hex').slice(0, 40)
  return { id: `${job.kind}-${job.recordId}-${place}`, version, document }
}

/** Of what is too large, or no text, only the name. */
async function fileDocument(
  { room, job, placed, repository }: Work,
  path: string,
  oid: Oid,
): Promise<object & Action['document']> {
  const largest = room.settings.values.elasticsearch_indexed_file_size_limit_kb * 1024
  const size = await blobSize(repository, oid)
  const content = size !== undefined && size <= largest ? await readBlob(repository, oid, largest) : undefined
  const filename = path.slice(path.lastIndexOf('/') + 1)
  const dot = filename.lastIndexOf('.')
  return {
    kind: job.kind === 'code' ? 'blobs' : 'wiki_blobs',
    project_id: placed.projectId,
    ...(job.kind === 'pages' && { wiki_id: job.recordId }),
    path,
    filename,
    extension: dot > 0 ? filename.slice(dot + 1).toLowerCase() : '',
    text: content === undefined || looksBinary(content) ? '' : content.toString('utf8'),
  }
}

async function* commitsOf(
  { repository, job, version, head, signal }: Work,
  base: Oid | undefined,
): AsyncGenerator<Action> {
  const not = base === undefined ? [] : [base]
  const ids = await listCommitIds(repository, { revs: [head], not, limit: mostCommits })
  for (let at = 0; at < ids.length && !signal.aborted; at += commitsRead) {
    for (const { oid, message, author, committer } of await readCommits(
      repository,
      ids.slice(at, at + commitsRead),
    )) {
      const document = {
        kind: 'commits',
        project_id: job.recordId,
        sha: oid,
        title: author.name,
        text: message.slice(0, longestMessage).toWellFormed(),
        created_at: isoOf(committer.date),
      }
      yield { id: `commit-${job.recordId}-${oid}`, version, document }
    }
  }
}

/** Commits may be of any date, and of none. */
function isoOf(date: Date): string | null {
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

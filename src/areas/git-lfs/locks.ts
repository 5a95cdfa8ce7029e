import type { FastifyReply } from 'fastify'
import { may } from '../../access/index.ts'
import { GitRefusal } from '../git-http/index.ts'
import { readQuestion, sendJson, type LfsRequest } from './call.ts'
import * as store from './lock-store.ts'

/** The news that nobody works on a file alone any more: event kind `large_file_unlocked`. */
export interface UnlockEvent {
  readonly path: string
}

const longestPath = 4096
const page = 100

/** GET: who works on which file alone. */
export async function listLocks({ services, project, request, reply }: LfsRequest): Promise<FastifyReply> {
  const query = new URLSearchParams(request.url.split('?', 2)[1])
  const { locks, next } = await pageOf(services, project.id, {
    path: query.get('path'),
    id: query.get('id'),
    cursor: query.get('cursor'),
    limit: query.get('limit'),
  })
  return sendJson(reply, 200, {
    locks: locks.map(lockJson),
    ...(next !== undefined && { next_cursor: next }),
  })
}

/** The same, told apart by whether it is the caller who holds them: before a push the client wants to know. */
export async function verifyLocks(call: LfsRequest): Promise<FastifyReply> {
  const { services, project, actor, request, reply } = call
  const { cursor, limit } = await readQuestion(request.raw)
  const { locks, next } = await pageOf(services, project.id, { cursor, limit })
  const mine = (lock: store.LockRow): boolean => lock.user_id === actor.user?.id
  return sendJson(reply, 200, {
    ours: locks.filter(mine).map(lockJson),
    theirs: locks.filter((lock) => !mine(lock)).map(lockJson),
    ...(next !== undefined && { next_cursor: next }),
  })
}

export async function takeLock(call: LfsRequest): Promise<FastifyReply> {
  const { services, project, actor, request, reply } = call
  const { path } = await readQuestion(request.raw)
  if (typeof path !== 'string' || path === '' || path.length > longestPath || path.includes('\0')) {
    throw new GitRefusal(422, 'There is no path to lock.')
  }
  if (actor.user === null) throw new GitRefusal(403, 'You have no permissions')
  const taken = await store.take(services.db, project.id, actor.user.id, path)
  // On the primary: what was written just now may not have come to a replica.
  const [lock] = await store.list(services.db.writer, project.id, { path, limit: 1 })
  if (lock === undefined) throw new GitRefusal(503, 'Please try again.')
  return taken
    ? sendJson(reply, 201, { lock: lockJson(lock) })
    : sendJson(reply, 409, { lock: lockJson(lock), message: 'already locked' })
}

/** One's own; with `force` those of others, for who looks after the project. */
export async function releaseLock(call: LfsRequest, id: number): Promise<FastifyReply> {
  const { services, project, actor, request, reply } = call
  const { force } = await readQuestion(request.raw)
  const [lock] = await store.list(services.db.reader, project.id, { id, limit: 1 })
  if (lock === undefined) throw new GitRefusal(404, 'Not found.')
  if (lock.user_id !== actor.user?.id) {
    if (!may(actor, 'force_lfs_unlock', project)) throw new GitRefusal(403, 'You have no permissions')
    if (force !== true) throw new GitRefusal(403, `${lock.path} is locked by ${lock.owner}`)
  }
  await services.db.transaction(async (tx) => {
    await store.release(tx, project.id, id)
    const payload: UnlockEvent = { path: lock.path }
    await services.events.announce(tx, 'large_file_unlocked', {
      projectId: project.id,
      userId: actor.user?.id ?? null,
      payload,
    })
  })
  return sendJson(reply, 200, { lock: lockJson(lock) })
}

async function pageOf(
  { db }: LfsRequest['services'],
  projectId: number,
  asked: { path?: unknown; id?: unknown; cursor?: unknown; limit?: unknown },
): Promise<{ locks: store.LockRow[]; next: string | undefined }> {
  const limit = Math.min(Math.max(numberOf(asked.limit) ?? page, 1), page)
  const path = typeof asked.path === 'string' ? asked.path.replaceAll('\0', '') : undefined
  const found = await store.list(db.reader, projectId, {
    path,
    id: numberOf(asked.id),
    after: numberOf(asked.cursor),
    limit: limit + 1,
  })
  const locks = found.slice(0, limit)
  return { locks, next: found.length > limit ? String(locks.at(-1)!.id) : undefined }
}

function numberOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function lockJson({ id, path, locked_at, owner }: store.LockRow): object {
  return { id: String(id), path, locked_at: locked_at.toISOString(), owner: { name: owner } }
}

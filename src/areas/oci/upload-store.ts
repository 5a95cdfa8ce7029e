import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import { nameUnknown, RegistryError, uploadUnknown } from './errors.ts'
import { isPlace, type Place } from './place.ts'

/** Seconds that a writer is waited for who says nothing any more, as one that was killed. */
const lease = 10
const renewal = 3000
/** Milliseconds that a client is let wait for another writer of the same upload. */
const patience = 20_000

export async function openUpload(db: Database, place: Place): Promise<string> {
  const id = randomUUID()
  const { rows } = await sql`
    insert into container_uploads (id, repository_id)
    select ${id}::uuid, c.id from container_repositories c where ${isPlace(place)} returning id`.execute(
    db.writer,
  )
  if (rows.length === 0) throw nameUnknown(place.path)
  return id
}

export async function hasUpload(db: Database, place: Place, id: string): Promise<boolean> {
  const found = await db.rows(sql`
    select u.id from container_uploads u join container_repositories c on c.id = u.repository_id
    where u.id = ${id}::uuid and ${isPlace(place)}`)
  return found.length > 0
}

/** The right to write to an upload, which nobody else has meanwhile. */
export interface Writing extends AsyncDisposable {
  readonly writer: string
  /** False once another one may have it. */
  readonly mine: () => boolean
}

/** Waits for whoever is writing; the connection of a client that comes back is often still open. */
export async function takeUpload(
  { db, log }: { db: Database; log: Logger },
  place: Place,
  id: string,
): Promise<Writing> {
  const writer = randomUUID()
  const until = Date.now() + patience
  while (!(await claim(db, place, id, writer))) {
    if (!(await hasUpload(db, place, id))) throw uploadUnknown()
    if (Date.now() > until) {
      throw new RegistryError(429, 'TOOMANYREQUESTS', 'another request is writing to this upload', {
        headers: { 'retry-after': String(lease) },
      })
    }
    await wait(250)
  }
  let ends = Date.now() + lease * 1000
  const timer = setInterval(() => {
    const now = Date.now()
    renew(db, id, writer).then(
      (renewed) => {
        ends = renewed ? now + lease * 1000 : 0
      },
      (error: unknown) => log.warn({ err: error }, 'could not keep an upload'),
    )
  }, renewal)
  return {
    writer,
    mine: () => Date.now() < ends,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await sql`
        update container_uploads u set writer = null, lease_until = null
        where u.id = ${id}::uuid and u.writer = ${writer}::uuid`.execute(db.writer)
    },
  }
}

async function claim(db: Database, place: Place, id: string, writer: string): Promise<boolean> {
  const { rows } = await sql`
    update container_uploads u set writer = ${writer}::uuid, touched_at = now(),
      lease_until = now() + make_interval(secs => ${lease})
    from container_repositories c
    where c.id = u.repository_id and ${isPlace(place)} and u.id = ${id}::uuid
      and (u.writer is null or u.lease_until < now())
    returning u.id`.execute(db.writer)
  return rows.length > 0
}

async function renew(db: Database, id: string, writer: string): Promise<boolean> {
  const { rows } = await sql`
    update container_uploads u set touched_at = now(), lease_until = now() + make_interval(secs => ${lease})
    where u.id = ${id}::uuid and u.writer = ${writer}::uuid returning u.id`.execute(db.writer)
  return rows.length > 0
}

/** Also what somebody is writing: he finds that it is gone. */
export async function dropUpload(db: Database, place: Place, id: string): Promise<boolean> {
  const { rows } = await sql`
    delete from container_uploads u using container_repositories c
    where c.id = u.repository_id and ${isPlace(place)} and u.id = ${id}::uuid returning u.id`.execute(
    db.writer,
  )
  return rows.length > 0
}

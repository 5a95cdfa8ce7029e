import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { Application } from './applications.ts'

const columns = sql`
  a.id, a.uid, a.secret_digest, a.name, a.redirect_uris, a.scopes, a.confidential, a.trusted, a.owner_id`

export function listApplications(input: PageInput): Read<Application> {
  return page({ columns, from: sql`from oauth_applications a`, order: sql`a.id` }, input)
}

export function readApplication(id: number): Read<Application> {
  return rows(sql`select ${columns} from oauth_applications a where a.id = ${id}`)
}

export async function findByUid(db: Reader, uid: string): Promise<Application | undefined> {
  const { rows: found } = await sql<Application>`
    select ${columns} from oauth_applications a where a.uid = ${uid}`.execute(db)
  return found[0]
}

export async function findById(db: Reader, id: number): Promise<Application | undefined> {
  const { rows: found } = await sql<Application>`
    select ${columns} from oauth_applications a where a.id = ${id}`.execute(db)
  return found[0]
}

export async function listOwn(db: Reader, ownerId: number): Promise<Application[]> {
  const { rows: found } = await sql<Application>`
    select ${columns} from oauth_applications a where a.owner_id = ${ownerId} order by a.id limit 200`.execute(
    db,
  )
  return found
}

export async function add(tx: Tx, application: Omit<Application, 'id'>): Promise<Application> {
  const { rows: made } = await sql<Application>`
    insert into oauth_applications as a
      (uid, secret_digest, name, redirect_uris, scopes, confidential, trusted, owner_id)
    values (${application.uid}, ${application.secret_digest}, ${application.name},
      ${application.redirect_uris}::text[], ${application.scopes}::text[], ${application.confidential},
      ${application.trusted}, ${application.owner_id})
    returning ${columns}`.execute(tx)
  return made[0]!
}

/** With its tokens; `ownerId`: only if it is this one's. Tells whether there was one. */
export async function remove(tx: Tx, id: number, ownerId?: number): Promise<boolean> {
  const own = ownerId === undefined ? sql`` : sql`and a.owner_id = ${ownerId}`
  const { rows: gone } = await sql`
    delete from oauth_applications a where a.id = ${id} ${own} returning 1`.execute(tx)
  return gone.length > 0
}

export async function setSecret(tx: Tx, id: number, digest: string): Promise<Application | undefined> {
  const { rows: changed } = await sql<Application>`
    update oauth_applications a set secret_digest = ${digest} where a.id = ${id} returning ${columns}`.execute(
    tx,
  )
  return changed[0]
}

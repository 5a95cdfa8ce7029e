import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import type pg from 'pg'
import { dnKey } from '../src/kernel/lib/distinguished-names.ts'
import { readLdapConfig } from '../src/areas/ldap/index.ts'
import { syncGroups } from '../src/areas/ldap/sync/sync.ts'
import { Database } from '../src/kernel/db/index.ts'
import { createLogger } from '../src/kernel/log/index.ts'
import { dnOf, groupOfNames, hasSlapd, person, suffix, TestDirectory } from '../test/world/directory.ts'

/** Seconds of syncs of all groups with a real directory. */
export interface LdapFigure {
  readonly what: string
  readonly seconds: number
}

const groupsOfPerson = 4

/**
 * A directory of people in groups, each linked to a group here: the first sync, one that finds nothing to do, and one
 * after every group has lost one and gained one. Undefined without slapd.
 */
export async function ldapSyncs(
  connection: pg.ClientConfig,
  quick: boolean,
): Promise<LdapFigure[] | undefined> {
  if (!hasSlapd) return undefined
  const [people, groups] = quick ? [1_000, 50] : [10_000, 500]
  const membersOf = (group: number, shift: number): string[] => {
    const each = (people * groupsOfPerson) / groups
    return Array.from({ length: each }, (_, at) => dnOf(`p${(group * 7 + at + shift) % people}`))
  }
  await using directory = await TestDirectory.start([
    ...Array.from({ length: people }, (_, number) => person(`p${number}`)),
    ...Array.from({ length: groups }, (_, number) => groupOfNames(`g${number}`, membersOf(number, 0))),
  ])
  const log = createLogger('error')
  const db = new Database({ connection, log })
  const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-bench-ldap-'))
  try {
    const file = path.join(folder, 'ldap.yml')
    await writeFile(file, configuration(directory.port))
    const services = { db, log, config: readLdapConfig(file, {}) }
    await fill(db, people, groups)
    const figures: LdapFigure[] = []
    const measure = async (what: string): Promise<void> => {
      const begin = performance.now()
      const outcomes = await syncGroups(services)
      const wrong = outcomes.find(({ state }) => state !== 'ready')
      if (outcomes.length !== groups || wrong !== undefined) {
        throw new Error(`the sync of ${outcomes.length} groups failed: ${wrong?.error ?? ''}`)
      }
      figures.push({ what, seconds: (performance.now() - begin) / 1000 })
    }
    const count = (number: number): string => number.toLocaleString('en')
    await measure(`first sync of ${count(people)} users in ${count(groups)} groups`)
    await measure('sync with nothing to do')
    await directory.change(async (client) => {
      for (let number = 0; number < groups; number += 1) await client.del(`cn=g${number},ou=groups,${suffix}`)
    })
    await directory.add(
      ...Array.from({ length: groups }, (_, number) => groupOfNames(`g${number}`, membersOf(number, 1))),
    )
    await measure('sync after each group lost one and gained one')
    return figures
  } finally {
    await db[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
}

function configuration(port: number): string {
  return `
servers:
  main:
    label: Main
    host: 127.0.0.1
    port: ${port}
    encryption: plain
    uid: uid
    base: ou=people,${suffix}
    group_base: ou=groups,${suffix}
`
}

/** Accounts and groups that a first sign-in and owners would have made. */
async function fill(db: Database, people: number, groups: number): Promise<void> {
  const keys = Array.from({ length: people }, (_, number) => dnKey(dnOf(`p${number}`))!)
  await sql`
    with made as (
      insert into users (username, name, email)
      select 'ldap-p' || number, 'P ' || number, 'ldap-p' || number || '@example.org'
      from generate_series(0, ${people - 1}::int) number returning id, username)
    insert into user_identities (user_id, provider, extern_uid, uid_key)
    select m.id, 'ldapmain', k.key, k.key
    from made m join unnest(${keys}::text[]) with ordinality k (key, at) on m.username = 'ldap-p' || (k.at - 1)`.execute(
    db.writer,
  )
  await sql`
    with next as (
      select nextval(pg_get_serial_sequence('namespaces', 'id')) as id, number
      from generate_series(0, ${groups - 1}::int) number),
    made as (
      insert into namespaces (id, kind, name, path, full_path, traversal_ids)
      overriding system value
      select id, 'group', 'ldap-g' || number, 'ldap-g' || number, 'ldap-g' || number, array[id] from next returning id)
    insert into ldap_group_links (namespace_id, provider, cn, group_access)
    select n.id, 'ldapmain', 'g' || n.number, 30 from next n join made m on m.id = n.id`.execute(db.writer)
  await sql`analyze`.execute(db.writer)
}

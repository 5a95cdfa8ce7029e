import fc from 'fast-check'
import { sql, type RawBuilder } from 'kysely'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import * as lists from '../../src/areas/members/lists.ts'
import { Database, type Tx } from '../../src/kernel/db/index.ts'
import { createLogger } from '../../src/kernel/log/index.ts'
import { copyDatabase } from '../world/databases.ts'
import { dayFromToday, levelIn, knows, membersOf, rolesIn, type Forest, type Place } from './model.ts'

/*
 * The SQL of effective access against a slow and plain model: 40 random forests with 10 users in 25 places each are
 * 10,000 cases.
 */

const sizes = { groups: 13, projects: 12, users: 10 }
const forests = 40

const level = fc.constantFrom(5, 10, 15, 20, 30, 40, 50)
const sharedLevel = fc.constantFrom(10, 15, 20, 30, 40, 50)
const expiry = fc.constantFrom(null, null, null, -1, 0, 1)
const role = fc.constantFrom(null, null, 0, 1, 2)
const group = fc.nat(sizes.groups - 1)
const project = fc.nat(sizes.projects - 1)

const membership = fc.record({
  user: fc.nat(sizes.users - 1),
  place: fc.oneof(
    fc.record({ kind: fc.constant('group' as const), at: group }),
    fc.record({ kind: fc.constant('project' as const), at: project }),
  ),
  level,
  role,
  active: fc.constantFrom(true, true, true, false),
  expires: expiry,
})

const forest: fc.Arbitrary<Forest> = fc
  .record({
    // A parent comes before its children; itself stands for none.
    parents: fc.tuple(...Array.from({ length: sizes.groups }, (_, at) => fc.nat(at))),
    locks: fc.uniqueArray(group, { maxLength: 2 }),
    homes: fc.array(group, { minLength: sizes.projects, maxLength: sizes.projects }),
    members: fc.uniqueArray(membership, {
      minLength: 5,
      maxLength: 40,
      selector: ({ user, place }) => `${user} ${place.kind} ${place.at}`,
    }),
    groupShares: fc.uniqueArray(
      fc.record({ to: group, from: group, level: sharedLevel, role, expires: expiry }),
      {
        maxLength: 12,
        selector: ({ to, from }) => `${to} ${from}`,
      },
    ),
    projectShares: fc.uniqueArray(
      fc.record({ to: project, from: group, level: sharedLevel, role, expires: expiry }),
      { maxLength: 12, selector: ({ to, from }) => `${to} ${from}` },
    ),
  })
  .map((drawn) => ({
    ...drawn,
    parents: drawn.parents.map((parent, at) => (parent === at ? undefined : parent)),
    groupShares: drawn.groupShares.filter(({ to, from }) => to !== from),
  }))

const places: readonly Place[] = [
  ...Array.from({ length: sizes.groups }, (_, at) => ({ kind: 'group' as const, at })),
  ...Array.from({ length: sizes.projects }, (_, at) => ({ kind: 'project' as const, at })),
]
const users = Array.from({ length: sizes.users }, (_, at) => at)

/** Ids of the database: those of the drawing, and this on top. */
const first = 1000

let database: Awaited<ReturnType<typeof copyDatabase>>
let db: Database
beforeAll(async () => {
  database = await copyDatabase(inject('postgres'))
  db = new Database({ connection: { connectionString: database.url }, log: createLogger('silent') })
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

class Undone extends Error {}

/** What the database says of a forest, which is gone afterwards. */
async function ask<T>(drawn: Forest, question: (tx: Tx) => Promise<T>): Promise<T> {
  let answer: T | undefined
  await db
    .transaction(async (tx) => {
      await plant(tx, drawn)
      answer = await question(tx)
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  return answer!
}

/** Rows of a table, from objects. */
function from(rows: readonly object[], columns: string): RawBuilder<unknown> {
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) r (${sql.raw(columns)})`
}

async function plant(tx: Tx, drawn: Forest): Promise<void> {
  const line = (at: number): number[] => {
    const parent = drawn.parents[at]
    return [...(parent === undefined ? [] : line(parent)), first + at]
  }
  await sql`
    insert into users (id, username, name, email) overriding system value
    select ${first}::bigint + i, 'drawn' || i, 'drawn', 'drawn' || i || '@example.com'
    from generate_series(0, ${sizes.users - 1}) i`.execute(tx)
  const groups = drawn.parents.map((parent, at) => ({
    id: first + at,
    parent: parent === undefined ? null : first + parent,
    line: `{${line(at).join()}}`,
    settings: drawn.locks.includes(at) ? { share_with_group_lock: true } : {},
  }))
  await sql`
    insert into namespaces (id, kind, parent_id, name, path, full_path, traversal_ids, settings)
      overriding system value
    select r.id, 'group', r.parent, 'g', 'g' || r.id, 'g' || r.id, r.line::bigint[], r.settings
    from ${from(groups, 'id bigint, parent bigint, line text, settings jsonb')}`.execute(tx)
  const projects = drawn.homes.map((home, at) => ({ id: first + at, home: first + home }))
  await sql`
    insert into projects (id, namespace_id, name, path, full_path) overriding system value
    select r.id, r.home, 'p' || r.id, 'p', 'p' || r.id from ${from(projects, 'id bigint, home bigint')}`.execute(
    tx,
  )
  await sql`
    insert into member_roles (id, name, base_access_level) overriding system value
    select ${first}::bigint + i, 'drawn' || i, 10 from generate_series(0, 2) i`.execute(tx)
  const roleId = (drawnRole: number | null) => (drawnRole === null ? null : first + drawnRole)
  const members = drawn.members.map(({ user, place, level: has, role: held, active, expires }) => ({
    user: first + user,
    [place.kind]: first + place.at,
    level: has,
    role: roleId(held),
    state: active ? 'active' : 'awaiting',
    expires: dayFromToday(expires),
  }))
  const columns =
    '"user" bigint, "group" bigint, project bigint, level int, role bigint, state text, expires date'
  await sql`
    insert into members (user_id, namespace_id, project_id, access_level, member_role_id, state, expires_at)
    select r.user, r.group, r.project, r.level, r.role, r.state, r.expires from ${from(members, columns)}`.execute(
    tx,
  )
  const share = ({ to, from: invited, level: most, role: its, expires }: Forest['groupShares'][number]) => ({
    to: first + to,
    invited: first + invited,
    level: most,
    role: roleId(its),
    expires: dayFromToday(expires),
  })
  const shared = '"to" bigint, invited bigint, level int, role bigint, expires date'
  await sql`
    insert into group_shares (shared_id, group_id, access_level, member_role_id, expires_at)
    select r.to, r.invited, r.level, r.role, r.expires from ${from(drawn.groupShares.map(share), shared)}`.execute(
    tx,
  )
  await sql`
    insert into project_shares (project_id, group_id, access_level, member_role_id, expires_at)
    select r.to, r.invited, r.level, r.role, r.expires from ${from(drawn.projectShares.map(share), shared)}`.execute(
    tx,
  )
}

/** The places as rows of `kind`, `id`, `line` and, of a project, its own id as `project`. */
const everywhere = sql`(
  select 'group' as kind, n.id, n.traversal_ids as line, null::bigint as project
  from namespaces n where n.kind = 'group' and n.id >= ${first}
  union all
  select 'project', p.id, n.traversal_ids, p.id
  from projects p join namespaces n on n.id = p.namespace_id where p.id >= ${first}) place`

const nameOf = (user: number, { kind, at }: Place): string => `user ${user} in ${kind} ${at}`

/** The cases for which something holds. */
function cases(holds: (user: number, place: Place) => boolean): string[] {
  return users.flatMap((user) =>
    places.filter((place) => holds(user, place)).map((place) => nameOf(user, place)),
  )
}

interface Found {
  readonly kind: Place['kind']
  readonly id: number
  readonly user_id: number
  readonly level: number
}

const found = ({ user_id: user, kind, id }: Found): string => nameOf(user - first, { kind, at: id - first })

test('roles, reach, sight and lists are those of the model', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(forest, async (drawn) => {
      await ask(drawn, async (tx) => {
        const roles = await sql<Found>`
          select place.kind, place.id, m.user_id, max(m.access_level) as level
          from ${everywhere}, effective_memberships(place.line, place.project) m group by 1, 2, 3`.execute(tx)
        const told = new Map(roles.rows.map((row) => [found(row), row.level]))
        for (const user of users) {
          for (const place of places) {
            const name = nameOf(user, place)
            expect([name, told.get(name) ?? 0]).toEqual([name, levelIn(drawn, user, place)])
          }
        }

        const custom = await sql<Omit<Found, 'level'> & { roles: number[] }>`
          select place.kind, place.id, m.user_id, array_agg(distinct m.member_role_id - ${first})::int[] as roles
          from ${everywhere}, effective_memberships(place.line, place.project) m
          where m.member_role_id is not null group by 1, 2, 3`.execute(tx)
        const held = new Map(custom.rows.map((row) => [found({ ...row, level: 0 }), row.roles]))
        for (const user of users) {
          for (const place of places) {
            const name = nameOf(user, place)
            expect([name, held.get(name) ?? []]).toEqual([name, rolesIn(drawn, user, place)])
          }
        }

        const reach = await sql<Found>`
          select 'group' as kind, r.group_id as id, u.id as user_id, max(r.access_level) as level
          from users u, reachable_groups(u.id) r where u.id >= ${first} group by 1, 2, 3
          union all
          select 'project', r.project_id, u.id, max(r.access_level)
          from users u, reachable_projects(u.id) r where u.id >= ${first} group by 1, 2, 3`.execute(tx)
        expect(
          reach.rows
            .filter((row) => row.level > 5)
            .map(found)
            .toSorted(),
        ).toEqual(cases((user, place) => levelIn(drawn, user, place) > 5).toSorted())

        const wanted = cases(
          (user, place) => place.kind === 'group' && knows(drawn, user, place.at),
        ).toSorted()
        const known = await sql<Found>`
          select 'group' as kind, k.group_id as id, u.id as user_id
          from users u, known_groups(u.id) k where u.id >= ${first}`.execute(tx)
        expect(known.rows.map(found).toSorted()).toEqual(wanted)
        const inside = await sql<Found>`
          select place.kind, place.id, u.id as user_id
          from users u, ${everywhere} where u.id >= ${first} and place.kind = 'group' and (
            is_member_inside(u.id, place.id)
            or exists (select from effective_memberships(place.line, null) m where m.user_id = u.id))`.execute(
          tx,
        )
        expect(inside.rows.map(found).toSorted()).toEqual(wanted)

        for (const kind of ['group', 'project'] as const) {
          const page = lists.all(
            kind,
            { invitedToMembers: true },
            { page: 1, perPage: 100, limit: 100, offset: 0 },
          )
          const listed = await sql<{ id: number; page: { rows: Record<string, number>[]; total: number } }>`
            select subject.id, ${page.sql} as page
            from (select place.* from ${everywhere} where place.kind = ${kind}) subject,
              (select null::bigint as id, true as admin) actor, (select 50 as role) membership`.execute(tx)
          for (const { id, page: answer } of listed.rows) {
            const wanted = membersOf(drawn, { kind, at: id - first })
            const rows = answer.rows.map((row) => [
              row['id']! - first,
              row['access_level'],
              row['membership_state'],
            ])
            expect([kind, id - first, rows, answer.total]).toEqual([kind, id - first, wanted, wanted.length])
          }
        }
      })
    }),
    { numRuns: forests },
  )
})

import { parseArgs } from 'node:util'
import type pg from 'pg'
import { connectTo, databaseOf } from './database.ts'
import { FreshService } from './fresh-service.ts'
import { load } from './http-load.ts'
import type { Service } from './service.ts'
import { callerToken } from './world.ts'

/*
 * Lists of a project with very many issues, by every filter and in every order, and notes on one of them:
 *   npm run bench:issues -- [--issues <number>] [--tries <of each list>] [--seconds <of writing>] [--only <part>]
 */
const { values } = parseArgs({
  options: {
    issues: { type: 'string' },
    tries: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
  },
})
const count = Number(values.issues ?? 1_000_000)
const tries = Number(values.tries ?? 15)
const seconds = Number(values.seconds ?? 3)
const token = callerToken(1)

/** Project and group, and the number of what belongs to them. */
const projectId = 1_000
const groupId = 1_000
const people = 500
const labels = 200
const milestones = 100

const lists: Readonly<Record<string, string>> = {
  'page 1': '',
  'page 2,000 of 20': '?page=2000',
  opened: '?state=opened',
  'a common label': '?labels=label-1',
  'a rare label': '?labels=label-200',
  'two labels': '?labels=label-1,label-2',
  'no label': '?labels=None',
  'a label and words': '?labels=label-1&search=crash',
  'common words': '?search=crash',
  'rare words': '?search=needle',
  'words that no issue has': '?search=nowhere-at-all',
  'words in the title': '?search=title&in=title',
  'two letters': '?search=zq',
  milestone: '?milestone=milestone-1',
  'no milestone': '?milestone=None',
  'any milestone': '?milestone=Any',
  'milestones under way': '?milestone_id=Started',
  author: '?author_id=1001',
  'author by name': '?author_username=person-2',
  assignee: '?assignee_id=1001',
  'nobody assigned': '?assignee_id=None',
  'assigned to me': '?scope=assigned_to_me',
  'created by me': '?scope=created_by_me',
  'numbers (iids)': '?iids=1,500,999,77777',
  'my reaction': '?my_reaction_emoji=rocket',
  'any reaction of mine': '?my_reaction_emoji=Any',
  confidential: '?confidential=true',
  'due this week': '?due_date=week',
  overdue: '?due_date=overdue',
  'without a due date': '?due_date=0',
  incidents: '?issue_type=incident',
  weight: '?weight=9',
  'no weight': '?weight=None',
  'created in one day': '?created_after=2024-03-01T00:00:00Z&created_before=2024-03-02T00:00:00Z',
  'updated lately': '?updated_after=2025-01-01T00:00:00Z&order_by=updated_at',
  'not a label': '?not[labels]=label-1',
  'not an assignee': '?not[assignee_id]=1001',
  'not a milestone': '?not[milestone]=milestone-1',
  'not an author': '?not[author_id]=1001',
  'by update': '?order_by=updated_at',
  'by title': '?order_by=title&sort=asc',
  'by due date': '?order_by=due_date&sort=asc',
  'by due date, last first': '?order_by=due_date',
  'by weight': '?order_by=weight',
  'by weight, least first': '?order_by=weight&sort=asc',
  'by popularity': '?order_by=popularity',
  'by popularity, least first': '?order_by=popularity&sort=asc',
  'by milestone': '?order_by=milestone_due&sort=asc',
  'by milestone, last first': '?order_by=milestone_due',
  'by label priority': '?order_by=label_priority&sort=asc',
  'by priority': '?order_by=priority&sort=asc',
  'by priority, last first': '?order_by=priority',
  'by position': '?order_by=relative_position',
  'by priority, one label': '?order_by=priority&sort=asc&labels=label-150',
  'by priority, a common label': '?order_by=priority&labels=label-1',
  'by popularity, opened': '?order_by=popularity&state=opened',
}

function statements(): string[] {
  const digest = (text: string): string =>
    `translate(encode(sha256(convert_to(${text}, 'utf8')), 'base64'), '+/=', '-_')`
  const some = (list: string, by: string): string =>
    `(${list})[(1 + i * ${by} % array_length(${list}, 1))::int]`
  return [
    `insert into users (id, username, name, email, confirmed_at) overriding system value
     select 1000 + i, 'person-' || i, 'Person ' || i, 'person-' || i || '@example.com', now()
     from generate_series(1, ${people}) i`,
    `insert into personal_access_tokens (user_id, name, digest, scopes, last_used_at)
     values (1001, 'bench', ${digest(`'${token}'`)}, '{api}', now() + interval '1 day')`,
    `insert into namespaces (id, kind, name, path, full_path, traversal_ids) overriding system value
     values (${groupId}, 'group', 'Large', 'large', 'large', '{${groupId}}')`,
    `insert into routes (path_key, namespace_id) values ('large', ${groupId})`,
    `insert into projects (id, namespace_id, creator_id, name, path, full_path, default_branch, last_activity_at)
     overriding system value values (${projectId}, ${groupId}, 1, 'App', 'app', 'large/app', 'main', now())`,
    `insert into routes (path_key, project_id) values ('large/app', ${projectId})`,
    `insert into members (user_id, namespace_id, access_level)
     select 1000 + i, ${groupId}, case when i = 1 then 40 else 20 end from generate_series(1, ${people}) i`,
    `insert into labels (id, project_id, title, color) overriding system value
     select 1000 + i, ${projectId}, 'label-' || i, '#112233' from generate_series(1, ${labels}) i`,
    `insert into label_priorities (project_id, label_id, priority)
     select ${projectId}, 1000 + i * 10, i from generate_series(1, 10) i`,
    `insert into milestones (id, iid, project_id, title, start_date, due_date) overriding system value
     select 1000 + i, i, ${projectId}, 'milestone-' || i, date '2024-01-01' + i * 10, date '2024-01-15' + i * 10
     from generate_series(1, ${milestones}) i`,
    `insert into issues (id, iid, project_id, author_id, milestone_id, title, description, state, issue_type,
       confidential, due_date, weight, relative_position, upvotes, created_at, updated_at) overriding system value
     select i, i, ${projectId}, 1000 + 1 + i * 7 % ${people}, case when i % 3 = 0 then 1000 + 1 + i / 3 % ${milestones} end,
       'Issue title ' || i || ' ' || ${some("array['login','crash','slow','export','mail']", '13')},
       'When ' || md5(i::text) || ' then ' || ${some("array['it crashes','nothing happens','it waits']", '11')}
         || case when i % 100000 = 7 then ' needle' else '' end,
       case when i % 4 = 0 then 'opened' else 'closed' end, case when i % 50 = 0 then 'incident' else 'issue' end,
       i % 40 = 0, case when i % 10 = 0 then date '2024-01-01' + (i % 1500)::int end, case when i % 5 = 0 then i / 5 % 20 end,
       i::bigint << 20, case when i % 7 = 0 then i * 31 % 60 else 0 end,
       timestamptz '2020-01-01' + i * interval '150 seconds',
       timestamptz '2020-01-01' + (i + i * 7919 % 50000) * interval '150 seconds'
     from generate_series(1::bigint, ${count}) i`,
    `insert into noteable_labels (noteable_type, noteable_id, label_id)
     select 'Issue', i, 1001 from generate_series(1::bigint, ${count}) i where i % 3 = 0
     union select 'Issue', i, 1002 + i % 150 from generate_series(1::bigint, ${count}) i where i % 2 = 0
     union select 'Issue', i, ${1000 + labels} from generate_series(1::bigint, ${count}) i where i % 9973 = 0`,
    `insert into issue_assignees (issue_id, user_id)
     select i, 1000 + 1 + i * 11 % ${people} from generate_series(1::bigint, ${count}) i where i % 2 = 0`,
    `insert into award_emoji (awardable_kind, awardable_id, user_id, name)
     select 'Issue', i, 1000 + 1 + i % 20, case when i % 3 = 0 then 'rocket' else 'thumbsup' end
     from generate_series(1::bigint, ${count}) i where i % 11 = 0`,
    `insert into project_counters (project_id, kind, last_iid) values (${projectId}, 'issue', ${count})`,
    ...['users', 'namespaces', 'projects', 'labels', 'milestones', 'issues'].map(
      (table) => `select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
    ),
  ]
}

/** The indexes that are no constraints are made when the rows are there, as a restore does. */
async function fill(client: pg.Client): Promise<void> {
  await client.query(`set synchronous_commit = off; set maintenance_work_mem = '256MB'`)
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = any ('{issues,noteable_labels,issue_assignees,award_emoji}'::regclass[])
       and not exists (select from pg_constraint t where t.conindid = i.indexrelid)`,
  )
  for (const { name } of rows) await client.query(`drop index ${client.escapeIdentifier(name)}`)
  for (const statement of statements()) await client.query(statement)
  for (const { definition } of rows) await client.query(definition)
  await client.query('vacuum analyze')
}

const ms = (value: number): string => value.toFixed(1).padStart(9)

async function measureLists(service: Service): Promise<void> {
  console.log(`${'list of issues'.padEnd(30)}  p50 ms   max ms  rows`)
  for (const [name, query] of Object.entries(lists)) {
    if (values.only !== undefined && !name.includes(values.only)) continue
    const times: number[] = []
    let rows = 0
    for (let turn = 0; turn <= tries; turn += 1) {
      const begun = performance.now()
      const reply = await fetch(`${service.url}/api/v4/projects/${projectId}/issues${query}`, {
        headers: { 'private-token': token },
      })
      const body = (await reply.json()) as unknown[]
      if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${JSON.stringify(body)}`)
      rows = body.length
      // The first one finds nothing in any cache.
      if (turn > 0) times.push(performance.now() - begun)
    }
    const sorted = times.toSorted((a, b) => a - b)
    console.log(
      `${name.padEnd(30)}${ms(sorted[sorted.length >> 1]!)}${ms(sorted.at(-1)!)}${String(rows).padStart(6)}`,
    )
  }
}

async function measureNotes(service: Service): Promise<void> {
  const requests = Array.from({ length: 400 }, (_, place) => ({
    method: 'POST',
    path: `/api/v4/projects/${projectId}/issues/${1 + place * 7}/notes`,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ body: 'A note of no great length, as most are.' }),
  }))
  const { rate, p50, p99 } = await load({ port: service.port, connections: 16, seconds, requests })
  console.log(`note creation: ${rate.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
}

await using service = await FreshService.start({ ROLES: 'web,tasks' })
const client = await connectTo(service.directory)
const begun = performance.now()
await fill(client)
console.log(`${count.toLocaleString('en')} issues in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
if (process.env['BENCH_HOLD'] !== undefined) {
  console.log(service.url, JSON.stringify(await databaseOf(service.directory)))
  await new Promise(() => setInterval(() => undefined, 60_000))
}
await client.end()
await measureLists(service)
await measureNotes(service)

import { parseArgs } from 'node:util'
import { connectTo } from './database.ts'
import { FreshService } from './fresh-service.ts'
import type { Service } from './service.ts'
import { rootToken } from './world.ts'

/*
 * All members of a group of very many, who come through ten levels of groups and thirty shares, against one of twenty:
 *   npm run bench:members -- [--members <effective ones>] [--tries <of each list>]
 */
const { values } = parseArgs({ options: { members: { type: 'string' }, tries: { type: 'string' } } })
const members = Number(values.members ?? 20_000)
const tries = Number(values.tries ?? 100)

const levels = 10
const shares = 30
const fewMembers = 20
/** How many times as long the first page of the large group may take. */
const most = 3

/** Ids: groups of the line from 1001 on, groups that were let in from 2001 on, the small group. */
const deepest = 1000 + levels
const small = 3000
const firstUser = 10_000

function statements(): string[] {
  const group = (id: string, name: string, line: string, parent = 'null::bigint', path = name): string =>
    `select ${id}, 'group', ${name}, ${name}, ${path}, ${parent}, ${line}`
  const into = `insert into namespaces (id, kind, name, path, full_path, parent_id, traversal_ids) overriding system value`
  return [
    `insert into users (id, username, name, email, confirmed_at) overriding system value
     select ${firstUser} + i, 'person-' || i, 'Person ' || i, 'person-' || i || '@example.com', now()
     from generate_series(1, ${members}) i`,
    `${into} ${group(
      '1000 + i',
      `'level-' || i`,
      `array(select 1000 + k from generate_series(1, i) k)::bigint[]`,
      'case when i > 1 then 999 + i end',
      `(select string_agg('level-' || k, '/' order by k) from generate_series(1, i) k)`,
    )} from generate_series(1, ${levels}) i`,
    `${into} ${group('2000 + i', `'let-in-' || i`, 'array[2000 + i]::bigint[]')} from generate_series(1, ${shares}) i`,
    `${into} ${group(String(small), `'small'`, `array[${small}]::bigint[]`)}`,
    `insert into routes (path_key, namespace_id) select n.full_path, n.id from namespaces n where n.id > 1000`,
    // Half of them are members of the groups in the line, the others of those that were let in; some of both.
    `insert into members (user_id, namespace_id, access_level)
     select ${firstUser} + i, 1001 + i % ${levels}, 30 from generate_series(1, ${members} / 2) i`,
    `insert into members (user_id, namespace_id, access_level)
     select ${firstUser} + i, 2001 + i % ${shares}, 40 from generate_series(${members} / 2 - ${members} / 20, ${members}) i`,
    `insert into group_shares (group_id, shared_id, access_level)
     select 2000 + i, 1001 + i % ${levels}, 20 from generate_series(1, ${shares}) i`,
    `insert into members (user_id, namespace_id, access_level)
     select ${firstUser} + i, ${small}, 30 from generate_series(1, ${fewMembers}) i`,
    `select setval(pg_get_serial_sequence(name, 'id'), 1000000) from unnest(array['users', 'namespaces', 'members']) name`,
    'vacuum analyze',
  ]
}

interface Figure {
  readonly p50: number
  readonly p99: number
  readonly total: number
}

async function measure({ url }: Service, group: number): Promise<Figure> {
  const times: number[] = []
  let total = 0
  for (let turn = -10; turn < tries; turn += 1) {
    const begun = performance.now()
    const reply = await fetch(`${url}/api/v4/groups/${group}/members/all`, {
      headers: { 'private-token': rootToken },
    })
    const rows = (await reply.json()) as unknown[]
    if (reply.status !== 200 || rows.length !== 20) throw new Error(`${reply.status} ${JSON.stringify(rows)}`)
    total = Number(reply.headers.get('x-total') ?? Number.NaN)
    // The first ones find nothing in any cache.
    if (turn >= 0) times.push(performance.now() - begun)
  }
  const sorted = times.toSorted((a, b) => a - b)
  return { p50: sorted[sorted.length >> 1]!, p99: sorted[Math.floor(sorted.length * 0.99)]!, total }
}

await using service = await FreshService.start({ ROLES: 'web' })
const client = await connectTo(service.directory)
for (const statement of statements()) await client.query(statement)
await client.end()
const few = await measure(service, small)
const many = await measure(service, deepest)
const line = (what: string, { p50, p99, total }: Figure): string =>
  `${what.padEnd(52)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, in all ${total || 'more than are counted'}`
console.log(line(`first page, ${fewMembers} members`, few))
console.log(
  line(`first page, ${members.toLocaleString('en')} in ${levels} levels and ${shares} shares`, many),
)
const times = many.p50 / few.p50
console.log(`${times.toFixed(2)} times as long (at most ${most})`)
if (times > most) process.exitCode = 1

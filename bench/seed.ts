import pg from 'pg'
import { countBlocks } from '../src/areas/pipelines/blocks.ts'
import { variableSecretContext } from '../src/areas/variables/index.ts'
import { compileTemplates } from '../src/kernel/db/compile.ts'
import { Cipher } from '../src/kernel/lib/secrets.ts'
import type { Scale } from './options.ts'
import { callerToken, firstId, runnerCount, runnerToken, shape, special } from './world.ts'

/** The digest of a token as the service keeps it, in SQL. */
const digest = (token: string): string =>
  `translate(encode(sha256(convert_to(${token}, 'utf8')), 'base64'), '+/=', '-_')`

/**
 * Fills an empty database. Ids are given by us, see `world.ts`, so that everybody can reckon what there is. Foreign
 * keys, checks and unique constraints hold; the other indexes of the two largest tables are made when their rows are
 * there, as a restore does.
 */
export async function seed(client: pg.Client, scale: Scale, secretKey: string): Promise<void> {
  const run = (text: string): Promise<unknown> => client.query(text)
  // Nothing here need survive a crash.
  await run(`set synchronous_commit = off`)
  await run(`set maintenance_work_mem = '256MB'`)
  await run('begin')
  for (const statement of people(scale)) await run(statement)
  for (const statement of places(scale)) await run(statement)
  const secret = new Cipher(secretKey).seal('value of a variable', variableSecretContext)
  for (const statement of things(scale, secret)) await run(statement)
  await run('commit')
  await withoutIndexes(client, 'ci_pipelines', async () => {
    await run(pipelines(special.bigProject, 0, scale.pipelines, scale))
    await run(pipelines(special.smallProject, scale.pipelines, shape.smallProjectPipelines, scale))
  })
  await run(counters)
  await run(compileTemplates(countBlocks)!.text)
  for (const table of numbered) {
    await run(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`)
  }
  await run('vacuum analyze')
  await run('checkpoint')
}

const numbered = ['users', 'namespaces', 'projects', 'ci_pipelines'] as const

/** Drops the indexes of a table that are no constraints, and makes them again. */
async function withoutIndexes(client: pg.Client, table: string, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = $1::regclass and not exists (select from pg_constraint t where t.conindid = i.indexrelid)`,
    [table],
  )
  for (const { name } of rows) await client.query(`drop index ${client.escapeIdentifier(name)}`)
  await work()
  for (const { definition } of rows) await client.query(definition)
}

function people({ callers, members }: Scale): string[] {
  return [
    `insert into users (id, username, name, email, confirmed_at, last_activity_on) overriding system value
     select ${firstId} + i, 'user' || i, 'User Number ' || i, 'user' || i || '@example.com', now(), now()::date
     from generate_series(1, ${members}) i`,
    // Used just now, so that using them again writes nothing.
    `insert into personal_access_tokens (user_id, name, digest, scopes, last_used_at)
     select ${firstId} + i, 'bench', ${digest(`'${callerToken('')}' || i`)}, '{api}', now() + interval '1 day'
     from generate_series(1, ${callers}) i`,
    `insert into namespaces (id, kind, owner_id, name, path, full_path, traversal_ids) overriding system value
     select u.id, 'user', u.id, u.username, u.username, u.username, array[u.id] from users u where u.id > ${firstId}`,
    `insert into routes (path_key, namespace_id)
     select n.full_path, n.id from namespaces n where n.id > ${firstId}`,
  ]
}

/** The tree of groups: at each level below the top `shape.siblings` groups, the first of which holds the next level. */
function places({ depth, members, callers, projects }: Scale): string[] {
  const all = shape.groups(depth)
  const ids = all.map(({ id }) => id)
  const groups = all.map(
    ({ id, line, path }) =>
      `(${id}, 'group', ${line.at(-2) ?? 'null'}, '${path.split('/').at(-1)!}', '${path.split('/').at(-1)!}', '${path}',
        '{${line.join(',')}}')`,
  )
  return [
    `insert into namespaces (id, kind, parent_id, name, path, full_path, traversal_ids) overriding system value
     values ${groups.join(', ')}`,
    `insert into routes (path_key, namespace_id)
     select n.full_path, n.id from namespaces n where n.kind = 'group'`,
    // Every second caller is a Maintainer of all that lies in the tree, the other ones are Developers there.
    `insert into members (user_id, namespace_id, access_level)
     select ${firstId} + i, ${shape.groupId(0, 0)},
       case when i > ${callers} then 10 + 10 * (i % 2) when i % 2 = 1 then 40 else 30 end
     from generate_series(1, ${members}) i`,
    // Further down some are members once more.
    ...Array.from(
      { length: depth - 1 },
      (_, level) => `
        insert into members (user_id, namespace_id, access_level)
        select ${firstId} + i, ${shape.groupId(level + 1, 0)}, 30 from generate_series(1, ${members}) i
        where i % 50 = ${level}`,
    ),
    // Some projects lie with users, who own them; the rest is spread over the tree.
    `insert into projects (id, namespace_id, creator_id, name, path, full_path, default_branch, last_activity_at)
       overriding system value
     select ${firstId} + i, n.id, n.owner_id, 'Project ' || i, 'project-' || i, n.full_path || '/project-' || i, 'main',
       now() - i * interval '1 hour'
     from generate_series(1, ${projects}) i
     join namespaces n on n.id = case when ${shape.isPersonalSql('i')} then ${firstId} + 1 + i % ${callers}
       else (array[${ids.join(', ')}])[1 + i % ${ids.length}] end`,
    `insert into routes (path_key, project_id) select p.full_path, p.id from projects p`,
    `insert into members (user_id, project_id, access_level)
     select n.owner_id, p.id, 50 from projects p join namespaces n on n.id = p.namespace_id where n.kind = 'user'`,
    // And every project has a few members of its own.
    `insert into members (user_id, project_id, access_level)
     select ${firstId} + 1 + (i * 37 + k * 101) % ${callers}, ${firstId} + i, 40
     from generate_series(1, ${projects}) i, generate_series(1, 5) k on conflict do nothing`,
  ]
}

function things({ projects, variables }: Scale, secret: string): string[] {
  const variable = (project: string): string => `select ${project}, 'KEY_' || k, '${secret}', k % 3 = 0 from`
  return [
    `insert into ci_variables (project_id, key, secret, protected)
     ${variable(`${firstId} + i`)} generate_series(1, ${projects}) i, generate_series(1, 10) k
     where i <> ${special.variablesProject - firstId}`,
    `insert into ci_variables (project_id, key, secret, protected)
     ${variable(String(special.variablesProject))} generate_series(1, ${variables}) k`,
    `insert into protected_branches (project_id, name)
     select ${firstId} + i, (array['main', 'stable', 'release/*'])[k]
     from generate_series(1, ${projects}) i, generate_series(1, 3) k`,
    `insert into protected_branch_access_levels (project_id, protected_branch_id, action, access_level)
     select b.project_id, b.id, a.action, 40
     from protected_branches b, (values ('push'), ('merge')) a (action)`,
    `insert into ci_runners (runner_type, token_digest, token_hint, description)
     select 'instance_type', ${digest(`'${runnerToken('')}' || i`)}, 'bench', 'runner ' || i
     from generate_series(1, ${runnerCount}) i`,
  ]
}

/** Pipelines spread over a year, with all sorts of status, source, ref and user; oldest first. */
function pipelines(project: number, before: number, count: number, { callers }: Scale): string {
  const created = `now() - (${count} - i) * (interval '365 days' / ${count})`
  return `
    insert into ci_pipelines (id, project_id, iid, user_id, status, source, ref, sha, name, duration, created_at,
      updated_at, started_at, finished_at) overriding system value
    select ${firstId} + ${before} + i, ${project}, i, ${firstId} + 1 + i % ${shape.pipelineUsers(count, callers)},
      case when h < 70 then 'success' when h < 85 then 'failed' when h < 93 then 'canceled' when h < 98 then 'skipped'
        else 'manual' end,
      case when i % 50 = 7 then 'parent_pipeline'
        else (array['push', 'push', 'push', 'push', 'push', 'merge_request_event', 'schedule', 'web', 'api'])[1 + i % 9]
        end,
      case when h % 5 < 2 then 'main' else 'feature-' || i % ${shape.refs(count)} end,
      ${shape.shaSql('i')}, case when i % 10 = 0 then 'Nightly ' || i / 10 % ${shape.names(count)} end, 60 + h,
      ${created}, ${created} + interval '10 minutes', ${created} + interval '5 seconds',
      case when h < 98 then ${created} + interval '10 minutes' end
    from (select i, i * 7919::bigint % 101 % 100 as h from generate_series(1, ${count}) i) rows`
}

const counters = `
   insert into project_counters (project_id, kind, last_iid, last_id, live)
   select p.project_id, 'pipeline', max(p.iid), max(p.id), count(*) filter (where p.source <> 'parent_pipeline')
   from ci_pipelines p group by p.project_id`

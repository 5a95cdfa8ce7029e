import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { countBlocks } from '../../src/areas/pipelines/blocks.ts'
import type { ListFilter } from '../../src/areas/pipelines/list-filter.ts'
import { list } from '../../src/areas/pipelines/list.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/*
 * Where a page of pipelines begins is found in counts of blocks. Here every page is held against the rows themselves:
 * over several blocks of each size, with children in between, after pipelines were deleted and made.
 */

let world: World
let project: Made

const count = 21_980

beforeAll(async () => {
  world = await startWorld()
  project = await world.project()
  const file = { branch: 'main', content: 'build: { script: echo }', commit_message: 'Begin' }
  expectStatus(await world.root.post(`/projects/${project.id}/repository/files/.gitlab-ci.yml`, file), 201)
  await vi.waitFor(async () => expect(await iids('')).toEqual([1]), { timeout: 20_000 })
  const { writer } = world.service.services.db
  await sql`
    insert into ci_pipelines (project_id, iid, status, source, ref, sha, created_at, updated_at)
    select ${project.id}, i, 'success', case when i % 7 = 3 then 'parent_pipeline' else 'push' end,
      case when i % 20 = 1 then 'feature' else 'main' end, ${'1'.repeat(40)}, timestamptz '2024-01-01' + i * interval '1 minute',
      timestamptz '2024-01-01' + i * interval '1 minute'
    from generate_series(2, ${count}) i where i % 11 <> 5 and i not between 3000 and 4300`.execute(writer)
  await sql`delete from ci_pipeline_blocks`.execute(writer)
  await sql`${countBlocks}`.execute(writer)
  await sql`
    update project_counters set last_iid = ${count}, live = (
      select count(*) from ci_pipelines where project_id = ${project.id} and source <> 'parent_pipeline')
    where project_id = ${project.id} and kind = 'pipeline'`.execute(writer)
})
afterAll(() => world[Symbol.asyncDispose]())

async function iids(query: string): Promise<number[]> {
  const reply = expectStatus(await world.root.get(`/projects/${project.id}/pipelines?${query}`), 200)
  return (reply as unknown as Json[]).map(({ iid }) => iid as number)
}

async function expectPages(): Promise<void> {
  const { rows } = await sql<{ iid: number }>`
    select iid from ci_pipelines where project_id = ${project.id} and source <> 'parent_pipeline'
    order by iid desc`.execute(world.service.services.db.writer)
  const newest = rows.map(({ iid }) => iid)
  const size = 50
  const pages = [1, 2, 3, 20, 47, 60, 61, 62, 199, 200, 201, Math.ceil(newest.length / size), 500]
  for (const page of pages) {
    const [from, to] = [(page - 1) * size, page * size]
    expect(await iids(`per_page=${size}&page=${page}`), `page ${page}`).toEqual(newest.slice(from, to))
    expect(await iids(`per_page=${size}&page=${page}&sort=asc`), `page ${page}, oldest first`).toEqual(
      newest.toReversed().slice(from, to),
    )
  }
}

test('every page has what belongs there', expectPages)

test('also after some were deleted, in any block, and others made', async () => {
  const { rows } = await sql<{ id: number }>`
    select id from ci_pipelines where project_id = ${project.id} and iid in (1, 2, 7, 9999, 10000, 10003, 15000, 21970)`.execute(
    world.service.services.db.writer,
  )
  for (const { id } of rows) {
    expect(await world.root.delete(`/projects/${project.id}/pipelines/${id}`)).toMatchObject({ status: 204 })
  }
  await Promise.all(
    Array.from({ length: 30 }, () => world.root.post(`/projects/${project.id}/pipeline`, { ref: 'main' })),
  )
  await expectPages()
  expect(await blocks()).toEqual(await blocksCountedAnew())
})

test('what was created before a time is found from the block of that time on', async () => {
  for (const iid of [99, 100, 4301, 10_000, 17_777]) {
    const before = new Date(Date.UTC(2024, 0, 1, 0, iid)).toISOString()
    const [newest] = await iids(`created_before=${before}&per_page=1`)
    const { rows } = await sql<{ iid: number | null }>`
      select max(iid) as iid from ci_pipelines
      where project_id = ${project.id} and source <> 'parent_pipeline' and iid < ${iid}`.execute(
      world.service.services.db.writer,
    )
    expect(newest ?? null).toBe(rows[0]!.iid)
  }
})

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** How many pipelines were read for a list of them, not to count them. */
async function readFor(filter: Partial<ListFilter>, page: number): Promise<number> {
  const size = 20
  const offset = (page - 1) * size
  const asked = list(
    { order_by: 'id', sort: 'desc', ...filter },
    { page, perPage: size, offset, limit: size },
    { longUntil: Infinity },
  )
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>`
    explain (analyze, timing off, format json)
    select ${asked.sql} from (select p.id from projects p where p.id = ${project.id}) subject`.execute(
    world.service.services.db.writer,
  )
  let read = 0
  const walk = (node: PlanNode): void => {
    if (node['Relation Name'] === 'ci_pipelines') {
      read += node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0))
    }
    node.Plans?.forEach(walk)
  }
  walk(rows[0]!['QUERY PLAN'][0].Plan)
  return read
}

test('of a ref no other pipelines are read, on no page', async () => {
  await sql`analyze ci_pipelines`.execute(world.service.services.db.writer)
  // The database may walk the index to the page, or read all of the ref and sort them; then it reads the rows of the page.
  const ofTheRef = count / 20 + 2 * 101
  expect(await readFor({ ref: 'feature' }, 1)).toBeLessThanOrEqual(ofTheRef)
  expect(await readFor({ ref: 'feature' }, 30)).toBeLessThanOrEqual(ofTheRef)
  expect(await readFor({ ref: 'gone' }, 1)).toBe(0)
})

async function blocks(): Promise<unknown[]> {
  const { rows } = await sql`
    select size, block, live, before from ci_pipeline_blocks
    where project_id = ${project.id} and live > 0 order by 1, 2`.execute(world.service.services.db.writer)
  return rows
}

async function blocksCountedAnew(): Promise<unknown[]> {
  const { writer } = world.service.services.db
  await sql`delete from ci_pipeline_blocks`.execute(writer)
  await sql`${countBlocks}`.execute(writer)
  return blocks()
}

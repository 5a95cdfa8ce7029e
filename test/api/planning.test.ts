// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let project: Made
let reporter: Person
let path: string

beforeAll(async () => {
  world = await startWorld()
  group = await world.group()
  project = await world.project({ namespace_id: group.id })
  reporter = await world.member({ group }, 'reporter')
  path = `/projects/${project.id}`
})
afterAll(() => world[Symbol.asyncDispose]())

const patience = { timeout: 20_000, interval: 20 }

const make = async (where: string, fields: Json, by: Person = reporter): Promise<Json> =>
  expectStatus(await by.post(where, fields), 201)
const issue = (fields: Json, where = path): Promise<Json> =>
  make(`${where}/issues`, { title: world.unique('issue'), ...fields })
const ids = async (where: string, by: Person = reporter): Promise<number[]> =>
  rowsOf(await by.get(where)).map(({ id }) => id as number)

describe('a milestone', () => {
  test('shows its issues and how they came and went', async () => {
    const milestone = await make(`/groups/${group.id}/milestones`, { title: world.unique('m') })
    const at = `/groups/${group.id}/milestones/${milestone['id'] as number}`
    const open = await issue({ milestone_id: milestone['id'], weight: 2 })
    const secret = await issue({ milestone_id: milestone['id'], confidential: true })
    expectStatus(await reporter.put(`${path}/issues/${open['iid'] as number}`, { state_event: 'close' }), 200)
    expectStatus(
      await reporter.put(`${path}/issues/${open['iid'] as number}`, { state_event: 'reopen' }),
      200,
    )
    expect(await ids(`${at}/issues`)).toEqual([secret['id'], open['id']])
    const guest = await world.member({ group }, 'guest')
    expect(await ids(`${at}/issues`, guest)).toEqual([open['id']])
    expect(rowsOf(await guest.get(`${at}/burndown_events`))).toMatchObject([
      { action: 'created', weight: 2 },
      { action: 'closed', weight: 2 },
      { action: 'reopened', weight: 2 },
    ])
    // It is not one of the project's own.
    const there = `${path}/milestones/${milestone['id'] as number}`
    for (const list of ['issues', 'merge_requests', 'burndown_events'])
      expect((await reporter.get(`${there}/${list}`)).status).toBe(404)
  })

  test('shows its merge requests, and issues those that close or name them', async () => {
    await pushFiles(world, project, { 'a.txt': 'a' })
    await pushFiles(world, project, { 'b.txt': 'b' }, ['topic'])
    const developer = await world.member({ group }, 'developer')
    const milestone = await make(`${path}/milestones`, { title: world.unique('m') })
    const closed = await issue({})
    const other = await issue({})
    const request = await make(
      `${path}/merge_requests`,
      {
        title: `About #${other['iid'] as number}`,
        description: `Closes #${closed['iid'] as number}`,
        source_branch: 'topic',
        target_branch: 'main',
        milestone_id: milestone['id'],
      },
      developer,
    )
    expect(await ids(`${path}/milestones/${milestone['id'] as number}/merge_requests`)).toEqual([
      request['id'],
    ])
    expect(request['milestone']).toEqual(milestone)
    const of = ({ iid }: Json, list: string) => ids(`${path}/issues/${iid as number}/${list}`)
    expect(await of(closed, 'closed_by')).toEqual([request['id']])
    expect(await of(closed, 'related_merge_requests')).toEqual([request['id']])
    expect(await of(other, 'closed_by')).toEqual([])
    const guest = await world.member({ group }, 'guest')
    expect(await ids(`${path}/issues/${closed['iid'] as number}/closed_by`, guest)).toEqual([])
  })
})

describe('a transfer', () => {
  test('leaves issues with the labels and the milestone of the group that they were in', async () => {
    const [above, away] = [await world.group(), await world.group()]
    const moving = await world.project({ namespace_id: above.id })
    const label = { name: 'shared', color: '#112233', description: 'd' }
    await make(`/groups/${above.id}/labels`, label, world.root)
    const kept = await make(`/groups/${away.id}/labels`, { name: 'both', color: '#445566' }, world.root)
    await make(`/groups/${above.id}/labels`, { name: 'both', color: '#000000' }, world.root)
    const fields = { title: world.unique('m'), due_date: '2030-01-01' }
    const milestone = await make(`/groups/${above.id}/milestones`, fields, world.root)
    const body = { title: 'x', labels: 'shared,both', milestone_id: milestone['id'] }
    await make(`/projects/${moving.id}/issues`, body, world.root)
    expectStatus(await world.root.put(`/projects/${moving.id}/transfer`, { namespace: away.id }), 200)
    const found = await vi.waitFor(async () => {
      const { body: now } = await world.root.get(`/projects/${moving.id}/issues/1`)
      const { milestone: plan } = now as { milestone: Json }
      expect(plan['project_id']).toBe(moving.id)
      const labels = rowsOf(await world.root.get(`/projects/${moving.id}/labels`))
      expect(labels.map(({ name }) => name as string)).toEqual(['both', 'shared'])
      return { plan, labels }
    }, patience)
    expect(found.plan).toMatchObject(fields)
    expect(found.labels).toMatchObject([{ id: kept['id'] }, { ...label, is_project_label: true }])
    expect((await world.root.get(`/projects/${moving.id}/issues?labels=shared,both`)).body).toHaveLength(1)
    expect((await world.root.get(`/groups/${above.id}/milestones`)).body).toHaveLength(1)
  })
})

async function notesOfEpic({ id }: Json): Promise<string[]> {
  const { rows } = await sql<{ body: string }>`
    select n.body from noteables nb join notes n on n.noteable_id = nb.id
    where nb.kind = 'Epic' and nb.target_id = ${id as number} order by n.id`.execute(
    world.service.services.db.reader,
  )
  return rows.map(({ body }) => body)
}

test('links of epics are told from each side, and only to those who see both', async () => {
  const epic = (): Promise<Json> => make(`/groups/${group.id}/epics`, { title: world.unique('epic') })
  const [one, other] = [await epic(), await epic()]
  const at = ({ iid }: Json): string => `/groups/${group.id}/epics/${iid as number}`
  const target = { target_group_id: group.id, target_epic_iid: other['iid'] }
  const link = await make(`${at(one)}/related_epics`, { ...target, link_type: 'blocks' })
  expect(link).toMatchObject({ source_epic: { id: one['id'] }, target_epic: { id: other['id'] } })
  expect((await reporter.post(`${at(one)}/related_epics`, target)).status).toBe(409)
  expect(rowsOf(await reporter.get(`${at(other)}/related_epics`))).toMatchObject([
    { id: one['id'], link_type: 'is_blocked_by', related_epic_link_id: link['id'] },
  ])
  expect(await notesOfEpic(one)).toEqual([`marked this epic as blocking &${other['iid'] as number}`])
  expect(await notesOfEpic(other)).toEqual([`marked this epic as blocked by &${one['iid'] as number}`])
  expectStatus(await reporter.put(at(other), { confidential: true }), 200)
  const guest = await world.member({ group }, 'guest')
  expect(rowsOf(await guest.get(`${at(one)}/related_epics`))).toEqual([])
  const removed = await reporter.delete(`${at(one)}/related_epics/${link['id'] as number}`)
  expect([removed.status, rowsOf(await reporter.get(`${at(other)}/related_epics`))]).toEqual([200, []])
})

test('what changes of an epic is told on it, and on what it holds', async () => {
  const epic = await make(`/groups/${group.id}/epics`, { title: 'Old', description: '- [ ] a\n- [ ] b' })
  const above = await make(`/groups/${group.id}/epics`, { title: 'Above' })
  const at = `/groups/${group.id}/epics/${epic['iid'] as number}`
  const held = await issue({})
  for (const change of [
    { title: 'New' },
    { description: '- [x] a\n- [ ] b' },
    { description: 'all new' },
    { due_date_is_fixed: true, due_date_fixed: '2030-02-01' },
    { confidential: true },
    { parent_id: above['id'] },
    { title: 'New' },
  ])
    expectStatus(await reporter.put(at, change), 200)
  await make(`${at}/issues/${held['id'] as number}`, {})
  const notes = async (where: string): Promise<string[]> =>
    rowsOf(await reporter.get(`${where}/notes?sort=asc`)).map(({ body }) => body as string)
  const { iid } = above as { iid: number }
  expect(await notesOfEpic(epic)).toEqual([
    'changed title from **{-Old-}** to **{+New+}**',
    'marked the checklist item **a** as completed',
    'changed the description',
    'changed due date to February 1, 2030',
    'made the epic confidential',
    `added parent epic &${iid}`,
    `added issue ${project.path_with_namespace}#${held['iid'] as number}`,
  ])
  expect(await notesOfEpic(above)).toEqual([`added child epic &${epic['iid'] as number}`])
  expect(await notes(`${path}/issues/${held['iid'] as number}`)).toEqual([
    `added to epic ${group.full_path}&${epic['iid'] as number}`,
  ])
})

test('a move takes along what was said, and a clone if it is asked to', async () => {
  const to = await world.project({ namespace_id: group.id })
  const made = await issue({ labels: 'kept' })
  const at = `${path}/issues/${made['iid'] as number}`
  const note = await make(`${at}/notes`, { body: 'first' })
  await make(`${at}/notes/${note['id'] as number}/award_emoji`, { name: 'rocket' })
  await make(`${at}/award_emoji`, { name: 'thumbsup' })
  const [{ id: thread }] = rowsOf(await reporter.get(`${at}/discussions`)) as [Json]
  await make(`${at}/discussions/${thread as string}/notes`, { body: 'second' })
  const said = async (where: string): Promise<unknown[]> =>
    rowsOf(await reporter.get(`${where}/discussions`)).map(({ notes }) =>
      (notes as Json[]).map(({ body }) => body as string),
    )
  const bare = await make(`${at}/clone`, { to_project_id: to.id })
  expect(await said(`/projects/${to.id}/issues/${bare['iid'] as number}`)).toHaveLength(1)
  const whole = await make(`${at}/clone`, { to_project_id: to.id, with_notes: true })
  expect(await said(`/projects/${to.id}/issues/${whole['iid'] as number}`)).toContainEqual([
    'first',
    'second',
  ])
  const moved = await make(`${at}/move`, { to_project_id: to.id })
  expect(moved).toMatchObject({ upvotes: 1, user_notes_count: 2 })
  const there = `/projects/${to.id}/issues/${moved['iid'] as number}`
  expect((await said(there))[0]).toEqual(['first', 'second'])
  expect(rowsOf(await reporter.get(`${there}/resource_label_events`))).toHaveLength(1)
  const copied = rowsOf(await reporter.get(`${there}/notes?sort=asc`)).find(({ body }) => body === 'first')!
  expect(rowsOf(await reporter.get(`${there}/notes/${copied['id'] as number}/award_emoji`))).toHaveLength(1)
  // The answers go on from there.
  const [first] = rowsOf(await reporter.get(`${there}/discussions`)) as [Json]
  await make(`${there}/discussions/${first['id'] as string}/notes`, { body: 'third' })
})

test('issues come in the order of their milestones and of what matters most', async () => {
  const place = await world.project({ namespace_id: group.id })
  const where = `/projects/${place.id}`
  const milestone = async (due_date: string | undefined): Promise<unknown> =>
    (await make(`${where}/milestones`, { title: world.unique('m'), due_date }))['id']
  const [soon, late, open] = [
    await milestone('2030-01-01'),
    await milestone('2031-01-01'),
    await milestone(undefined),
  ]
  for (const [name, priority] of Object.entries({ high: 1, low: 5, none: undefined, all: undefined }))
    await make(`${where}/labels`, { name, color: 'red', priority })
  for (const [title, milestone_id, labels] of [
    ['plain', null, ''],
    ['low', null, 'low,none'],
    ['both', open, 'low,high'],
    ['late', late, ''],
    ['late and high', late, 'high'],
    ['soon', soon, 'none'],
    ['soon and low', soon, 'low'],
  ] as const)
    await issue({ title, milestone_id, labels: `all,${labels}` }, where)
  const order = async (query: string): Promise<unknown[]> =>
    rowsOf(await reporter.get(`${where}/issues?${query}`)).map(({ title }) => title as string)
  const byPriority = ['soon and low', 'soon', 'late and high', 'late', 'both', 'low', 'plain']
  const byMilestone = ['soon', 'soon and low', 'late', 'late and high', 'plain', 'low', 'both']
  const byLabel = ['both', 'late and high', 'low', 'soon and low', 'plain', 'late', 'soon']
  expect(await order('order_by=priority&sort=asc')).toEqual(byPriority)
  expect(await order('order_by=priority&sort=desc')).toEqual(byPriority.toReversed())
  expect(await order('order_by=priority&sort=asc&per_page=3&page=2')).toEqual(byPriority.slice(3, 6))
  expect(await order('order_by=milestone_due&sort=asc')).toEqual(byMilestone)
  expect(await order('order_by=milestone_due&sort=desc&per_page=4')).toEqual([
    'late and high',
    'late',
    'soon and low',
    'soon',
  ])
  expect(await order('order_by=label_priority&sort=asc')).toEqual(byLabel)
  expect(await order('order_by=label_priority&sort=asc&labels=low&per_page=2')).toEqual(['both', 'low'])
  for (const by of ['priority', 'milestone_due', 'label_priority'].flatMap((name) => [
    `order_by=${name}&sort=asc`,
    `order_by=${name}&sort=desc`,
  ])) {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => order(`${by}&per_page=2&page=${page}`)))
    expect(pages.flat(), by).toEqual(await order(by))
  }

  const withLabel = async (): Promise<void> => {
    expect(await order('order_by=priority&sort=asc&labels=all')).toEqual(byPriority)
    expect(await order('order_by=priority&sort=desc&labels=all')).toEqual(byPriority.toReversed())
    expect(await order('order_by=priority&sort=asc&labels=all&per_page=3&page=2')).toEqual(
      byPriority.slice(3, 6),
    )
    expect(await order('order_by=priority&sort=asc&labels=all,low')).toEqual(['soon and low', 'both', 'low'])
    expect(await order('order_by=milestone_due&sort=asc&labels=all')).toEqual(byMilestone)
    expect(await order('order_by=label_priority&sort=asc&labels=all')).toEqual(byLabel)
    expect(await order('order_by=label_priority&sort=desc&labels=all&per_page=4&page=2')).toEqual(
      byLabel.slice(4).toReversed(),
    )
  }
  await withLabel()
  // So many have a label that they are not taken one by one.
  await sql`
    insert into noteable_labels (noteable_type, noteable_id, label_id)
    select 'Issue', -n, l.id from labels l, generate_series(1, 10001) n
    where l.project_id = ${place.id} and l.title in ('all', 'low')`.execute(world.service.services.db.writer)
  await withLabel()
})

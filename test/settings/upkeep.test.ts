import { sql, type RawBuilder } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { during } from './effects.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Runs a task of the schedule now, and waits until it is done. */
async function run(name: string): Promise<void> {
  const { writer, reader } = world.service.services.db
  await sql`select graphile_worker.add_job(${name}::text, '{}'::json)`.execute(writer)
  await vi.waitFor(
    async () => {
      const { rows } = await sql`
        select from graphile_worker.jobs j where j.task_identifier = ${name}`.execute(reader)
      expect(rows).toEqual([])
    },
    { timeout: 20_000, interval: 20 },
  )
}

/** Time that has passed, which no call of the API makes pass. */
async function past(table: string, id: number, change: RawBuilder<unknown>): Promise<void> {
  await sql`update ${sql.table(table)} set ${change} where id = ${id}`.execute(
    world.service.services.db.writer,
  )
}

const stateOf = async (id: number): Promise<unknown> =>
  expectStatus(await world.root.get(`/users/${id}`), 200)['state']

test('deactivate_dormant_users: who was long away is deactivated by the day', async () => {
  const [away, active, never] = await Promise.all([world.user(), world.user(), world.user()])
  await past('users', away.id, sql`last_activity_on = now()::date - 91`)
  await past('users', active.id, sql`last_activity_on = now()::date - 89`)
  await past('users', never.id, sql`last_activity_on = null, created_at = now() - interval '8 days'`)
  await run('users:deactivate-dormant')
  expect(await stateOf(away.id)).toBe('active')
  await during(world, { deactivate_dormant_users: true }, () => run('users:deactivate-dormant'))
  expect(await Promise.all([away, active, never].map(({ id }) => stateOf(id)))).toEqual([
    'deactivated',
    'active',
    'deactivated',
  ])
})

test('inactive_resource_access_tokens_delete_after_days: bots go some time after their last token', async () => {
  const project = await world.project()
  const make = async (): Promise<Json> =>
    expectStatus(
      await world.root.post(`/projects/${project.id}/access_tokens`, {
        name: 'bot',
        scopes: ['api'],
        expires_at: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10),
      }),
      201,
    )
  const [alive, ended, lately] = [await make(), await make(), await make()]
  for (const token of [alive, ended, lately]) {
    await past('users', token['user_id'] as number, sql`created_at = now() - interval '1 year'`)
  }
  for (const token of [ended, lately]) {
    const path = `/projects/${project.id}/access_tokens/${token['id'] as number}`
    expect((await world.root.delete(path)).status).toBe(204)
  }
  await past('personal_access_tokens', ended['id'] as number, sql`revoked_at = now() - interval '31 days'`)
  await during(world, { inactive_resource_access_tokens_delete_after_days: null }, () =>
    run('users:remove-inactive-bots'),
  )
  const there = async (token: Json) =>
    (await world.root.get(`/users/${token['user_id'] as number}`)).status === 200
  expect(await there(ended)).toBe(true)
  await run('users:remove-inactive-bots')
  expect(await Promise.all([alive, ended, lately].map(there))).toEqual([true, false, true])
})

test('deletion_adjourned_period: what is marked for deletion goes after so many days', async () => {
  const project = await world.project()
  expectStatus(await world.root.delete(`/projects/${project.id}`), 202)
  await past('projects', project.id, sql`marked_for_deletion_at = now() - interval '5 days'`)
  const there = async () => (await world.root.get(`/projects/${project.id}`)).status
  await run('projects:end-marked')
  expect(await there()).toBe(200)
  await during(world, { deletion_adjourned_period: 4 }, () => run('projects:end-marked'))
  expect(await there()).toBe(404)
})

test('delete_inactive_projects: they are warned, and marked when nothing happens after that', async () => {
  const [idle, small, busy] = [await world.project(), await world.project(), await world.project()]
  const settings = {
    delete_inactive_projects: true,
    inactive_projects_send_warning_email_after_months: 2,
    inactive_projects_delete_after_months: 3,
  }
  for (const project of [idle, small]) {
    await past('projects', project.id, sql`last_activity_at = now() - interval '10 weeks'`)
  }
  const warned = async (): Promise<unknown[]> => {
    const { rows } = await sql<{ id: number }>`
      select p.id from projects p where p.inactivity_warned_at is not null order by p.id`.execute(
      world.service.services.db.reader,
    )
    return rows.map(({ id }) => id)
  }
  const marked = async () =>
    rowsOf(await world.root.get('/projects?per_page=100'))
      .filter((project) => project['marked_for_deletion_on'] !== null)
      .map(({ id }) => id as number)
  await run('projects:end-inactive')
  expect(await warned()).toEqual([])
  await during(world, { ...settings, inactive_projects_min_size_mb: 1 }, () => run('projects:end-inactive'))
  expect(await warned()).toEqual([])
  await during(world, settings, () => run('projects:end-inactive'))
  expect(await warned()).toEqual([idle.id, small.id])
  expect(await marked()).toEqual([])
  await past('projects', idle.id, sql`last_activity_at = now() - interval '14 weeks'`)
  await during(world, settings, () => run('projects:end-inactive'))
  expect(await marked()).toEqual([idle.id])
  expect(await warned()).not.toContain(busy.id)
})

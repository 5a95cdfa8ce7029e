// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { pushFiles } from '../world/push.ts'
import { startWorld, type Made, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const of = (project: Made) => world.root.get(`/projects/${project.id}/languages`)

test('languages are told by the size of files, also after the next push', async () => {
  const project = await world.project()
  expect((await of(project)).body).toEqual({})
  await pushFiles(world, project, {
    'a.rb': 'x'.repeat(300),
    'b.go': 'x'.repeat(100),
    'README.md': 'x'.repeat(1000),
    'vendor/c.js': 'x'.repeat(1000),
  })
  expect((await of(project)).text).toBe('{"Ruby":75,"Go":25}')
  const { body } = await world.root.post(`/projects/${project.id}/repository/files/c.py`, {
    branch: 'main',
    content: 'x'.repeat(400),
    commit_message: 'More',
  })
  expect(body).toMatchObject({ branch: 'main' })
  expect((await of(project)).text).toBe('{"Python":50,"Ruby":37.5,"Go":12.5}')
  const names = async (language: string) =>
    rowsOf(await world.root.get(`/projects?with_programming_language=${language}`)).map(
      ({ id }) => id as number,
    )
  expect(await names('python')).toEqual([project.id])
  expect(await names('Rust')).toEqual([])
})

test('languages that are found out while their project goes are not kept', async () => {
  const project = await world.project()
  await pushFiles(world, project, { 'a.rb': 'x' })
  await world.settled()
  const { db } = world.service.services
  await sql`delete from project_languages where project_id = ${project.id}`.execute(db.writer)
  const asking = await db.writer.transaction().execute(async (tx) => {
    await sql`delete from projects where id = ${project.id}`.execute(tx)
    const answer = of(project)
    const waits = async () => {
      const { rows } = await sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like '%insert into project_languages%'`.execute(
        db.reader,
      )
      return rows.length
    }
    await expect.poll(waits).toBe(1)
    return { answer }
  })
  expect((await asking.answer).text).toBe('{"Ruby":100}')
})

test('languages are for those who read the code', async () => {
  const project = await world.project()
  expect(
    (await (await world.member({ project }, 'guest')).get(`/projects/${project.id}/languages`)).status,
  ).toBe(403)
  expect(
    (await (await world.member({ project }, 'reporter')).get(`/projects/${project.id}/languages`)).status,
  ).toBe(200)
})

test('the users of a project are its members, in any way', async () => {
  const group = await world.group()
  const project = await world.project({ namespace_id: group.id })
  const direct = await world.member({ project }, 'guest')
  const above = await world.member({ group }, 'developer')
  const names = async (query: string) =>
    rowsOf(await direct.get(`/projects/${project.id}/users?${query}`)).map(
      ({ username }) => username as string,
    )
  expect(await names('')).toEqual(['root', direct.username, above.username])
  expect(await names(`search=${above.username}`)).toEqual([above.username])
  expect(await names(`skip_users=1,${above.id}`)).toEqual([direct.username])
})

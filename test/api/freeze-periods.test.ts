import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: CiProjects
beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const weekend = { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1' }
/** Begun this minute, and on until the year ends. */
const now = { freeze_start: '* * * * *', freeze_end: '0 0 1 1 *' }
/** A minute every four years. */
const seldom = { freeze_start: '0 0 29 2 *', freeze_end: '1 0 29 2 *' }

describe('freeze periods', () => {
  test('are made, read, listed in the order they were made, changed and deleted', async () => {
    const { id } = await world.project()
    const list = `/projects/${id}/freeze_periods`
    const made = expectStatus(await world.root.post(list, weekend), 201)
    expect(made).toEqual({
      id: expect.any(Number) as number,
      ...weekend,
      cron_timezone: 'UTC',
      created_at: expect.any(String) as string,
      updated_at: expect.any(String) as string,
    })
    const second = expectStatus(await world.root.post(list, { ...seldom, cron_timezone: 'Asia/Tokyo' }), 201)
    expect(second).toMatchObject({ ...seldom, cron_timezone: 'Asia/Tokyo' })
    expect((await world.root.get(list)).body).toEqual([made, second])
    expect((await world.root.get(`${list}?per_page=1&page=2`)).body).toEqual([second])

    const one = `${list}/${made['id']}`
    expect((await world.root.get(one)).body).toEqual(made)
    const changed = expectStatus(await world.root.put(one, { freeze_end: '0 8 * * 1' }), 200)
    expect(changed).toMatchObject({ ...weekend, freeze_end: '0 8 * * 1', cron_timezone: 'UTC' })
    expect((await world.root.get(one)).body).toEqual(changed)

    expect((await world.root.delete(one)).status).toBe(204)
    expect((await world.root.get(one)).status).toBe(404)
    const other = await world.project()
    expect((await world.root.get(`/projects/${other.id}/freeze_periods/${second['id']}`)).status).toBe(404)
  })

  test.each([
    [{ freeze_start: 'x' }, ['freeze_start']],
    [{ freeze_end: '* * * * * *' }, ['freeze_end']],
    [{ cron_timezone: 'Mars' }, ['cron_timezone']],
    [{ freeze_end: `0 ${'1,'.repeat(200)}2 * * *` }, ['freeze_end']],
    [{ freeze_start: '', freeze_end: '0 0 31 2 *' }, ['freeze_start', 'freeze_end']],
  ])('are refused with %j', async (fields, faulty) => {
    const { id } = await world.project()
    const list = `/projects/${id}/freeze_periods`
    const refused = await world.root.post(list, { ...weekend, ...fields })
    expect([refused.status, Object.keys(refused.body.message as Json)]).toEqual([400, faulty])
    const made = expectStatus(await world.root.post(list, weekend), 201)
    expect((await world.root.put(`${list}/${made['id']}`, fields)).status).toBe(400)
    expect((await world.root.get(list)).body).toEqual([made])
  })

  test('are told to rules and jobs while they are on', async () => {
    const config = {
      deploy: { script: ['x'], rules: [{ if: '$CI_DEPLOY_FREEZE == null' }] },
      wait: { script: ['x'], rules: [{ if: '$CI_DEPLOY_FREEZE' }] },
    }
    const ci = await projects.make(config)
    const runner = await RawRunner.forProject(world, ci.project)
    const runs = async (): Promise<[name: string, freeze: string | undefined]> => {
      await ci.run(world.root)
      const job = await runner.take()
      return [job.variable('CI_JOB_NAME')!, job.variable('CI_DEPLOY_FREEZE')]
    }
    expect(await runs()).toEqual(['deploy', undefined])

    const list = `/projects/${ci.id}/freeze_periods`
    const frozen = expectStatus(await world.root.post(list, now), 201)
    expectStatus(await world.root.post(list, seldom), 201)
    expect(await runs()).toEqual(['wait', 'true'])

    await world.root.delete(`${list}/${frozen['id']}`)
    expect(await runs()).toEqual(['deploy', undefined])
  })
})

import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { certificate } from '../world/certificate.ts'
import { EventCollector } from '../world/event-collector.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Browser } from './browser.ts'
import { during, set } from './effects.ts'

let world: World
let collector: EventCollector
let database: EventCollector

beforeAll(async () => {
  setDefaultCACertificates([...getCACertificates('default'), certificate])
  world = await startWorld()
  collector = await EventCollector.open()
  database = await EventCollector.open()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})
beforeEach(() => {
  for (const one of [collector, database]) {
    one.events()
    one.status = 200
  }
})

const telling = (more: Json = {}): Json => ({
  telemetry_enabled: true,
  telemetry_collector_hostname: collector.host,
  telemetry_database_collector_hostname: database.host,
  telemetry_app_id: 'acme',
  allow_local_requests_from_web_hooks_and_services: true,
  ...more,
})

/** As every minute does it. */
async function pass(): Promise<void> {
  await world.settled()
  await enqueue(world.service.services.db.writer, 'telemetry:send', {})
  await world.settled()
}

/** Tells what is over, so that what comes now is news. */
async function begin(): Promise<void> {
  await pass()
  await pass()
  for (const one of [collector, database]) one.events()
}

const said = (events: readonly Readonly<Record<string, string>>[]): string[] =>
  events.map(({ se_ca, se_ac }) => `${se_ca} ${se_ac}`)

test('telemetry_enabled, with the hosts of its collectors and its name, tells what is done', async () => {
  const issue = async (): Promise<Json> => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id, name: 'Very secret project' })
    return expectStatus(
      await world.root.post(`/projects/${project.id}/issues`, { title: 'Secret title' }),
      201,
    )
  }
  await during(world, telling(), async () => {
    await begin()
    await issue()
    const person = await world.user()
    await pass()
    const [{ request, type, schema }] = collector.told as [(typeof collector.told)[number]]
    expect([request, type, schema]).toEqual([
      'POST /com.snowplowanalytics.snowplow/tp2',
      'application/json',
      'iglu:com.snowplowanalytics.snowplow/payload_data/jsonschema/1-0-4',
    ])
    const events = collector.events()
    expect(said(events)).toEqual(expect.arrayContaining(['project create', 'user create', 'issue open']))
    const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string
    const time = expect.stringMatching(/^\d{13}$/) as string
    const fixed = { e: 'se', p: 'srv', aid: 'acme', tv: 'guildhall', tna: 'guildhall' }
    for (const event of events) expect(event).toMatchObject({ ...fixed, eid: uuid, dtm: time, stm: time })
    expect(new Set(events.map(({ eid }) => eid)).size).toBe(events.length)
    // The same project, and the same person, by whatever is told of them.
    const [made, opened] = ['project', 'issue'].map((kind) => events.find(({ se_ca }) => se_ca === kind)!)
    expect([opened!['se_la'], opened!['uid']]).toEqual([made!['se_la'], made!['uid']])
    for (const word of ['ecret', 'root', 'example', person.token, world.url])
      expect(JSON.stringify(events)).not.toContain(word)
    const records = database.events()
    expect(said(records).toSorted()).toEqual([
      'namespaces database_event_create',
      'projects database_event_create',
      'users database_event_create',
    ])
    // Once.
    await pass()
    expect(collector.events()).toEqual([])
  })
  await issue()
  await pass()
  expect([collector.events(), database.events()]).toEqual([[], []])
})

test('telemetry tells of sign-ins, by an app that has no name either', async () => {
  const password = 'correct horse battery'
  const { username } = expectStatus(
    await world.root.post('/users', {
      username: world.unique('p'),
      email: `${world.unique('p')}@example.com`,
      name: 'P',
      password,
      skip_confirmation: true,
    }),
    201,
  )
  await during(world, telling({ telemetry_app_id: null }), async () => {
    await begin()
    expect((await new Browser(world).signIn(username as string, password)).status).toBe(200)
    await pass()
    const events = collector.events()
    expect(said(events)).toEqual(['user sign_in'])
    expect(events[0]).not.toHaveProperty('aid')
    expect(JSON.stringify(events)).not.toContain(username)
  })
})

test('what a collector does not take is lost, and nothing of the time before is told', async () => {
  await during(world, telling(), async () => {
    await begin()
    for (const status of [500, 302, 0]) {
      collector.status = status
      await world.project()
      await pass()
      expect(said(collector.events())).toContain('project create')
    }
    collector.status = 200
    await world.project()
    await pass()
    expect(said(collector.events()).filter((text) => text === 'project create')).toHaveLength(1)
    for (const values of [
      { silent_mode_enabled: true },
      { telemetry_collector_hostname: 'no host' },
      { telemetry_enabled: false },
    ]) {
      await during(world, values, async () => {
        await world.project()
        await pass()
      })
      await pass()
      expect(said(collector.events())).toEqual([])
    }
    await set(world, { allow_local_requests_from_web_hooks_and_services: false })
    await world.project()
    await pass()
    expect(collector.events()).toEqual([])
  })
})

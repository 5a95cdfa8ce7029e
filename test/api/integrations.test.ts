// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { pushFiles } from '../world/push.ts'
import { Receiver } from '../world/receiver.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let receiver: Receiver
beforeAll(async () => {
  world = await startWorld()
  receiver = await Receiver.open()
  const local = { allow_local_requests_from_web_hooks_and_services: true }
  expectStatus(await world.root.put('/application/settings', local), 200)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

const of = (place: { project: Made } | { group: Made }): string =>
  'project' in place ? `/projects/${place.project.id}` : `/groups/${place.group.id}`

/** Where a chat of its own hears what this integration is told. */
async function listening(where: string, slug: string, fields: Json = {}): Promise<string> {
  const path = `/${world.unique('chat')}`
  const reply = await world.root.put(`${where}/integrations/${slug}`, {
    webhook: receiver.url + path,
    ...fields,
  })
  expectStatus(reply, 200)
  return path
}

const issue = async (where: string, fields: Json): Promise<Json> =>
  expectStatus(await world.root.post(`${where}/issues`, fields), 201)

describe('a chat is told in its own words', () => {
  const title = 'Fix @all <!channel> [a](b)'
  const quietly = 'Fix @\u200ball'
  const inMarkdown = expect.stringContaining(`${quietly} \\<!channel\\> \\[a\\]\\(b\\)](http`) as string
  const inEntities = expect.stringContaining(`${quietly} &lt;!channel&gt; [a](b)>`) as string
  const cases: readonly (readonly [string, Json, Json])[] = [
    ['slack', { username: 'house', channel: 'all' }, { text: inEntities, username: 'house', channel: 'all' }],
    ['mattermost', { channel: 'all', issue_channel: 'bugs' }, { text: inMarkdown, channel: 'bugs' }],
    ['discord', {}, { content: inMarkdown, allowed_mentions: { parse: [] } }],
    ['microsoft-teams', {}, { '@type': 'MessageCard', text: inMarkdown }],
    ['hangouts-chat', {}, { text: inEntities }],
    ['pumble', {}, { text: inMarkdown }],
    ['unify-circuit', {}, { text: inMarkdown, markdown: true }],
    ['webex-teams', {}, { markdown: inMarkdown }],
  ]
  test.each(cases)('%s', async (slug, fields, body) => {
    const where = of({ project: await world.project() })
    const path = await listening(where, slug, fields)
    await issue(where, { title })
    const got = await receiver.next(path)
    expect(got.body).toMatchObject(body)
    expect(Object.keys(got.headers).filter((name) => name.startsWith('x-'))).toEqual([])
  })

  test('telegram', async () => {
    const where = of({ project: await world.project() })
    const room = world.unique('room')
    const set = { hostname: receiver.url, token: '12:ab/c', room, thread: 7 }
    const { properties } = expectStatus(await world.root.put(`${where}/integrations/telegram`, set), 200)
    expect(properties).toMatchObject({ hostname: receiver.url, room, thread: 7 })
    expect(properties).not.toHaveProperty('token')
    await issue(where, { title })
    const { body } = await receiver.next('/bot12:ab%2Fc/sendMessage', ({ chat_id }) => chat_id === room)
    expect(body).toMatchObject({ message_thread_id: 7, parse_mode: 'HTML' })
    expect(body['text']).toContain(`${quietly} &lt;!channel&gt; [a](b)</a>`)
  })
})

test('news of all kinds come, but nothing confidential unless it is asked for', async () => {
  const project = await world.project()
  const where = of({ project })
  const some = await listening(where, 'slack')
  const all = await listening(where, 'mattermost', { confidential_issues_events: true })
  const secret = await issue(where, { title: 'secret', confidential: true })
  const plain = await issue(where, { title: 'plain' })
  expectStatus(await world.root.put(`${where}/issues/${plain['iid'] as number}`, { title: 'renamed' }), 200)
  expectStatus(
    await world.root.post(`${where}/issues/${plain['iid'] as number}/notes`, { body: 'Well' }),
    201,
  )
  expectStatus(await world.root.post(`${where}/wikis`, { title: 'page', content: 'x' }), 201)
  await pushFiles(world, project, { a: 'one' })
  const told = (path: string, words: string) =>
    receiver.next(path, ({ text }) => (text as string).includes(words))
  await told(some, 'commented> on issue #')
  await told(some, 'wiki page')
  await told(some, 'pushed new branch')
  await told(all, `#${secret['iid'] as number} secret`)
  await world.settled()
  const texts = receiver.at(some).map(({ body }) => body['text'] as string)
  expect(texts.filter((text) => /secret|updated/.test(text))).toEqual([])
})

test('branches and labels that a chat does not want are not told of', async () => {
  const project = await world.project()
  const where = of({ project })
  const path = await listening(where, 'slack', { labels_to_be_notified: '~bug, late' })
  const both = await listening(where, 'mattermost', {
    labels_to_be_notified: 'bug,late',
    labels_to_be_notified_behavior: 'match_all',
    branches_to_be_notified: 'all',
  })
  await pushFiles(world, project, { a: 'one' })
  const action = { action: 'create', file_path: 'b', content: 'x' }
  const change = { branch: 'side', start_branch: 'main', commit_message: 'Side', actions: [action] }
  expectStatus(await world.root.post(`${where}/repository/commits`, change), 201)
  await issue(where, { title: 'none' })
  await issue(where, { title: 'one', labels: 'bug' })
  await issue(where, { title: 'two', labels: 'bug,late' })
  await world.settled()
  const told = (at: string): string[] =>
    receiver
      .at(at)
      .map(
        ({ body }) => /(#\d+ \w+|\b(?:main|side)\b)/.exec((body['text'] as string).replaceAll('\\', ''))![0],
      )
      .toSorted()
  expect(told(path)).toEqual(['#2 one', '#3 two', 'main'])
  expect(told(both)).toEqual(['#3 two', 'main', 'side'])
})

test('it is shown without its secrets, and never as a webhook', async () => {
  const where = of({ project: await world.project() })
  const one = `${where}/integrations/slack`
  expectStatus(await world.root.get(one), 404)
  expect((await world.root.put(one, {})).body).toEqual({ error: 'webhook is missing' })
  for (const webhook of ['ftp://chat.example/x', 'nowhere', 'http://a:b@192.0.2.1/'])
    expect(await world.root.put(one, { webhook })).toMatchObject({
      status: 400,
      body: { message: { webhook: ['must be a valid URL'] } },
    })
  expectStatus(await world.root.put(`${where}/integrations/nothing`, { webhook: 'http://192.0.2.1/' }), 400)
  const hidden = 'http://192.0.2.1/very/secret'
  expectStatus(await world.root.put(one, { webhook: hidden, push_events: false, username: 'a' }), 200)
  const { status, body } = await world.root.put(`${where}/services/slack`, { channel: 'c', username: '' })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    title: 'Slack notifications',
    slug: 'slack',
    active: true,
    inherited: false,
    push_events: false,
    issues_events: true,
    confidential_issues_events: false,
    properties: { channel: 'c', username: null, branches_to_be_notified: null },
  })
  const answers = [await world.root.get(one), await world.root.get(`${where}/integrations`)]
  expect(answers[0]!.body).toEqual(body)
  expect(rowsOf(answers[1]!).map(({ slug }) => slug)).toEqual(['slack'])
  expect(JSON.stringify(answers.map((answer) => answer.body))).not.toContain('secret')
  expect(rowsOf(await world.root.get(`${where}/hooks`))).toEqual([])
  expectStatus(await world.root.get(`${where}/hooks/${body['id'] as number}`), 404)
  expectStatus(await world.root.delete(one), 204)
  expect((await world.root.get(one)).body).toMatchObject({ active: false, properties: { channel: null } })
  expect(rowsOf(await world.root.get(`${where}/services`))).toEqual([])
})

test('an address that may not be called is refused', async () => {
  const where = of({ project: await world.project() })
  const local = (value: boolean) =>
    world.root.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: value })
  expectStatus(await local(false), 200)
  const refused = await world.root.put(`${where}/integrations/discord`, { webhook: 'http://127.0.0.1/x' })
  expectStatus(await local(true), 200)
  expect(refused).toMatchObject({ status: 400 })
  expect(JSON.stringify(refused.body)).toContain('is blocked: Requests to l')
})

test('projects inherit from their groups, and may do otherwise', async () => {
  const group = await world.group()
  const inner = await world.group({ parent_id: group.id })
  const project = of({ project: await world.project({ namespace_id: inner.id }) })
  const ofGroup = await listening(of({ group }), 'slack')
  const one = `${project}/integrations/slack`
  expect((await world.root.get(one)).body).toMatchObject({ active: true, inherited: true })
  const said = async (): Promise<string> => {
    const title = world.unique('issue')
    await issue(project, { title })
    await world.settled()
    return title
  }
  const heard = (path: string, title: string): boolean =>
    receiver.at(path).some(({ text }) => text.includes(title))
  const first = await said()
  expect(heard(ofGroup, first)).toBe(true)

  const own = await listening(project, 'slack')
  const second = await said()
  expect([heard(ofGroup, second), heard(own, second)]).toEqual([false, true])

  const inherited = await world.root.put(one, { use_inherited_settings: true })
  expect(inherited).toMatchObject({ status: 200, body: { active: true, inherited: true } })
  const third = await said()
  expect([heard(ofGroup, third), heard(own, third)]).toEqual([true, false])

  expectStatus(await world.root.delete(one), 204)
  expect((await world.root.get(one)).body).toMatchObject({ active: false, inherited: false })
  expect(heard(ofGroup, await said())).toBe(false)
})

test('only what the instance allows is used', async () => {
  const where = of({ project: await world.project() })
  const path = await listening(where, 'slack')
  const other = await listening(where, 'discord')
  const allow = async (settings: Json) =>
    expectStatus(await world.root.put('/application/settings', settings), 200)
  const active = async () =>
    rowsOf(await world.root.get(`${where}/integrations`)).map(({ slug }) => slug as string)
  try {
    await allow({ allow_all_integrations: false, allowed_integrations: ['discord'] })
    expect(await active()).toEqual(['discord'])
    expect((await world.root.get(`${where}/integrations/slack`)).body).toMatchObject({ active: false })
    expectStatus(await world.root.put(`${where}/integrations/slack`, { channel: 'c' }), 403)
    await issue(where, { title: 'while not allowed' })
    await receiver.next(other)
    await world.settled()
    expect(receiver.at(path)).toEqual([])
  } finally {
    await allow({ allow_all_integrations: true, allowed_integrations: [] })
  }
  expect(await active()).toEqual(['slack', 'discord'])
  await issue(where, { title: 'allowed again' })
  expect((await receiver.next(path)).body['text']).toContain('allowed again')
})

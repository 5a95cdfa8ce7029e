import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { Mailbox } from '../world/mailbox.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let mailbox: Mailbox
let world: World
let project: Made
let ida: Person
let otto: Person
beforeAll(async () => {
  mailbox = await Mailbox.open()
  world = await startWorld({ SMTP_URL: mailbox.url })
  project = await world.project()
  ida = await world.member({ project }, 'developer')
  otto = await world.member({ project }, 'developer')
  await welcomed(ida, otto)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mailbox[Symbol.asyncDispose]()
})

const addressOf = ({ username }: Person): string => `${username}@example.com`
const issueOf = async (title: string, fields: Json = {}): Promise<{ issue: Json; at: string }> => {
  const issue = expectStatus(await ida.post(`/projects/${project.id}/issues`, { title, ...fields }), 201)
  return { issue, at: `/projects/${project.id}/issues/${issue['iid'] as number}` }
}
const note = async (at: string, body: string, fields: Json = {}): Promise<void> => {
  expectStatus(await ida.post(`${at}/notes`, { body, ...fields }), 201)
}
/** That somebody has become a member is told to him too, and is none of what is looked at here. */
async function welcomed(...people: readonly Person[]): Promise<void> {
  await Promise.all(people.map((person) => mailbox.to(addressOf(person))))
  mailbox.received.length = 0
}
const readersOf = (title: string): string[] => mailbox.about(title).flatMap(({ to }) => to)

test('who takes part gets one mail of each event, and unsubscribes by its header', async () => {
  const { issue, at } = await issueOf('First', { assignee_ids: [otto.id], description: 'What it is about' })
  const [opened] = await mailbox.to(addressOf(otto))
  expect(opened!.subject).toBe(`${project.path_with_namespace} | First (#${issue['iid'] as number})`)
  expect(opened!.text).toContain('What it is about')
  expect(opened!.text).toContain(issue['web_url'])
  await note(at, 'A remark')
  const [, remark] = await mailbox.to(addressOf(otto), 2)
  expect(remark!.subject).toMatch(/^Re: .* \| First/)
  expect(remark!.text).toContain('A remark')
  expect(readersOf('First')).toEqual([addressOf(otto), addressOf(otto)])

  const link = /^<(.*)>$/.exec(remark!.headers['list-unsubscribe']!)![1]!
  expect((await fetch(link)).status).toBe(200)
  expect((await fetch(link.replace('unsubscribe/', 'unsubscribe/AAAA'), { method: 'POST' })).status).toBe(404)
  expect(
    (await fetch(link, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }))
      .status,
  ).toBe(200)
  await note(at, 'Another remark')
  const { at: later } = await issueOf('Later', { assignee_ids: [otto.id] })
  await note(later, 'x')
  await mailbox.to(addressOf(otto), 4)
  expect(mailbox.received.filter(({ text }) => text.includes('Another remark'))).toEqual([])
})

test('levels decide, and nobody hears of what he may not read', async () => {
  const [guest, watcher, quiet, stranger] = [
    await world.member({ project }, 'guest'),
    await world.member({ project }, 'reporter'),
    await world.member({ project }, 'reporter'),
    await world.user(),
  ]
  await welcomed(guest, watcher, quiet)
  const settings = `/projects/${project.id}/notification_settings`
  for (const person of [guest, watcher]) expectStatus(await person.put(settings, { level: 'watch' }), 200)
  expectStatus(await quiet.put(settings, { level: 'disabled' }), 200)
  const names = [guest, quiet, stranger].map(({ username }) => `@${username}`).join(' ')

  await issueOf('Secret', { confidential: true, description: names })
  const { at } = await issueOf('Open', { description: names })
  await note(at, `inside ${names}`, { internal: true })
  await mailbox.to(addressOf(watcher), 3)
  await mailbox.to(addressOf(guest), 1)
  expect(readersOf('Secret')).toEqual([addressOf(watcher)])
  expect(readersOf('Open').toSorted()).toEqual(
    [addressOf(guest), addressOf(watcher), addressOf(watcher)].toSorted(),
  )
})

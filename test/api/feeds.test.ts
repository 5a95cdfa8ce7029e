import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during } from '../settings/effects.ts'

let world: World
let group: Made
let project: Made
let member: Person
beforeAll(async () => {
  world = await startWorld()
  group = await world.group()
  project = await world.project({ namespace_id: group.id })
  member = await world.member({ group }, 'guest')
  const today = new Date().toISOString().slice(0, 10)
  await write({ title: 'Seen <by> members', description: 'Tom & Jerry', labels: 'bug', due_date: today })
  await write({ title: 'A secret', confidential: true, due_date: today })
  await write({ title: 'For you', assignee_ids: [member.id] })
})
afterAll(() => world[Symbol.asyncDispose]())

async function write(fields: Json): Promise<void> {
  expectStatus(await world.root.post(`/projects/${project.id}/issues`, fields), 201)
}
const tokenOf = async (person: Person): Promise<string> =>
  expectStatus(await person.get('/user/feed_token'), 200)['feed_token'] as string

async function fetched(
  path: string,
  token?: string,
): Promise<{ status: number; type: string; text: string }> {
  const query = token === undefined ? '' : `?feed_token=${token}`
  const answer = await fetch(`${world.url}${path}${query}`, { redirect: 'manual' })
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() }
}

const feed = () => `/${project['path_with_namespace']}/-/issues.atom`
const titles = (text: string) =>
  [...text.matchAll(/<entry>[^]*?<title>(.*?)<\/title>/g)].map(([, title]) => title)
const summaries = (text: string) => [...text.matchAll(/^SUMMARY:(.*?) \(in/gm)].map(([, title]) => title)

test('a token opens the feed of a private project to who may see it', async () => {
  const token = await tokenOf(member)
  const { status, type, text } = await fetched(feed(), token)
  expect([status, type]).toEqual([200, 'application/atom+xml; charset=utf-8'])
  expect(titles(text)).toEqual(['For you', 'Seen &lt;by&gt; members'])
  expect(text).toContain('<content>Tom &amp; Jerry</content>')
  expect(text).toContain('<category term="bug"/>')
  expect(text).not.toContain(token)
  expect(titles((await fetched(feed(), await tokenOf(world.root))).text)).toContain('A secret')

  expect((await fetched(feed())).status).toBe(302)
  expect((await fetched(feed(), await tokenOf(await world.user()))).status).toBe(404)
  expect((await fetched(feed(), `${token}0`)).status).toBe(302)
  expect((await fetched(feed(), token.replace(/-\d+$/, '-1'))).status).toBe(302)
  expect((await fetched(`/${group['full_path']}/none/-/issues.atom`, token)).status).toBe(404)
})

test('groups have feeds, and everybody has one of what is assigned to him', async () => {
  const token = await tokenOf(member)
  const ofGroup = await fetched(`/groups/${group['full_path']}/-/issues.atom`, token)
  expect([ofGroup.status, titles(ofGroup.text)]).toEqual([200, ['For you', 'Seen &lt;by&gt; members']])
  expect(titles((await fetched('/dashboard/issues.atom', token)).text)).toEqual(['For you'])
  expect((await fetched('/dashboard/issues.atom')).status).toBe(302)
})

test('calendars have what is due', async () => {
  const token = await tokenOf(member)
  for (const path of [feed().replace('.atom', '.ics'), `/groups/${group['full_path']}/-/issues.ics`]) {
    const { status, type, text } = await fetched(path, token)
    expect([status, type]).toEqual([200, 'text/calendar; charset=utf-8'])
    expect(summaries(text)).toEqual(['Seen <by> members'])
  }
})

test('public projects have feeds for everybody', async () => {
  const open = await world.project({ visibility: 'public' })
  expectStatus(await world.root.post(`/projects/${open.id}/issues`, { title: 'Open' }), 201)
  const path = `/${open['path_with_namespace']}/-/issues.atom`
  expect(titles((await fetched(path)).text)).toEqual(['Open'])
  expect(titles((await fetched(path, 'glft-wrong')).text)).toEqual(['Open'])
})

test('a token is no token of the API, and ends when another one is taken or its user is blocked', async () => {
  const person = await world.member({ group }, 'reporter')
  const before = await tokenOf(person)
  const asked = await fetch(`${world.url}/api/v4/user`, { headers: { 'private-token': before } })
  expect(asked.status).toBe(401)
  const after = expectStatus(await person.post('/user/feed_token/rotate'), 201)['feed_token'] as string
  expect(after).not.toBe(before)
  expect(await tokenOf(person)).toBe(after)
  expect((await fetched(feed(), before)).status).toBe(302)
  expect((await fetched(feed(), after)).status).toBe(200)
  expectStatus(await world.root.post(`/users/${person.id}/block`), 201)
  expect((await fetched(feed(), after)).status).toBe(302)
})

test('in admin mode a token of an administrator opens no more than he is a member of', async () => {
  const token = await tokenOf(world.root)
  const hidden = expectStatus(await member.post('/projects', { name: world.unique('hidden') }), 201)
  const path = `/${hidden['path_with_namespace'] as string}/-/issues.atom`
  expect((await fetched(path, token)).status).toBe(200)
  await during(world, { admin_mode: true }, async () => {
    expect((await fetched(path, token)).status).toBe(404)
  })
})

test.each(['disable_feed_token', 'disable_personal_access_tokens'])(
  '%s does away with them',
  async (name) => {
    const token = await tokenOf(member)
    const off =
      name === 'disable_feed_token' ? { disable_feed_token: true } : { disable_personal_access_tokens: true }
    await during(world, off, async () => {
      expect((await fetched(feed(), token)).status).toBe(302)
      const asked = await member.get('/user/feed_token')
      if (name === 'disable_feed_token') {
        expect([asked.status, asked.body]).toEqual([404, { message: '404 Feed Token Not Found' }])
        expect((await member.post('/user/feed_token/rotate')).status).toBe(404)
      }
    })
    expect(bodyOf(await member.get('/user/feed_token'))).toEqual({ feed_token: token })
    expect((await fetched(feed(), token)).status).toBe(200)
  },
)

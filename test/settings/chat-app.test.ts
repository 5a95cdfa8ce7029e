// @module-tag long
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RawRunner } from '../runner/raw-runner.ts'
import { Person, type Reply } from '../world/client.ts'
import { ChatPlatform } from '../world/chat-platform.ts'
import { pushFiles } from '../world/push.ts'
import { Receiver } from '../world/receiver.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Browser } from './browser.ts'
import { during, set } from './effects.ts'

const password = 'correct horse battery staple'
const local = { allow_local_requests_from_web_hooks_and_services: true }
const app = {
  ...local,
  chat_app_enabled: true,
  chat_app_id: 'client-id',
  chat_app_secret: 'client-secret',
  chat_app_signing_secret: 'signing-secret',
  chat_app_verification_token: 'verification-token',
}

let world: World
let receiver: Receiver
let platform: ChatPlatform
let project: Made
let ada: Person
let browser: Browser
beforeAll(async () => {
  receiver = await Receiver.open()
  platform = await ChatPlatform.open()
  world = await startWorld({ CHAT_APP_URL: platform.url })
  project = await world.project()
  ada = await newPerson(project, 30)
  browser = await signedIn(ada)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

async function newPerson(of: Made, role: number): Promise<Person> {
  const person = await world.user({ force_random_password: undefined, password })
  const member = { user_id: person.id, access_level: role }
  expectStatus(await world.root.post(`/projects/${of.id}/members`, member), 201)
  return person
}

async function signedIn(who: Person): Promise<Browser> {
  const made = new Browser(world)
  await made.signIn(who.username, password)
  return made
}

/** What the platform sends, signed as it signs. */
function sign(
  path: string,
  body: string,
  { secret = 'signing-secret', age = 0, type = 'application/json' } = {},
) {
  const at = String(Math.floor(Date.now() / 1000) - age)
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`
  return fetch(`${world.url}/api/v4/integrations/slack/${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': type, 'x-slack-request-timestamp': at, 'x-slack-signature': signature },
  })
}

const hello = JSON.stringify({ type: 'url_verification', challenge: 'abc' })
const statusOf = async (sent: Promise<Response>): Promise<number> => (await sent).status

describe('what the platform sends', () => {
  test('chat_app_enabled, chat_app_signing_secret: is taken while it is signed', async () => {
    await during(world, app, async () => {
      const answer = await sign('events', hello)
      expect([answer.status, await answer.json()]).toEqual([200, { challenge: 'abc' }])
      expect(await statusOf(sign('events', hello, { secret: 'another' }))).toBe(401)
      expect(await statusOf(sign('events', hello, { age: 290 }))).toBe(200)
      for (const age of [310, -310]) expect(await statusOf(sign('events', hello, { age }))).toBe(401)
      await set(world, { chat_app_signing_secret: 'another' })
      expect(await statusOf(sign('events', hello, { secret: 'another' }))).toBe(200)
      expect(await statusOf(sign('events', hello))).toBe(401)
    })
    expect(await statusOf(sign('events', hello))).toBe(404)
  })

  test('is acknowledged, whatever it is', async () => {
    const form = { type: 'application/x-www-form-urlencoded' }
    const payload = new URLSearchParams({ payload: '{"type":"block_actions"}' }).toString()
    await during(world, app, async () => {
      expect(await (await sign('interactions', payload, form)).json()).toEqual({})
      expect(await (await sign('options', payload, form)).json()).toEqual({ options: [] })
      expect(await (await sign('events', '{"type":"event_callback"}')).json()).toEqual({})
      for (const path of ['events', 'interactions', 'options'])
        for (const body of ['', '[', 'null', 'payload=1', '\0'])
          expect(await statusOf(sign(path, body))).toBe(400)
      expect(await statusOf(sign('events', ' '.repeat(1_000_001)))).toBe(413)
      const bare = await fetch(`${world.url}/api/v4/integrations/slack/events`, {
        method: 'POST',
        body: hello,
      })
      expect(bare.status).toBe(401)
    })
  })
})

test('chat_app_verification_token: who shows it gives commands', async () => {
  const trigger = (token: string, text = 'help') =>
    world.anonymous.post('/slack/trigger', { token, command: '/gitlab', text, ...team })
  await during(world, app, async () => {
    const helped = expectStatus(await trigger('verification-token'), 200)
    expect(helped).toMatchObject({ response_type: 'ephemeral' })
    expect(helped['text']).toContain('/gitlab &lt;project&gt; issue show &lt;id&gt;')
    expect((await trigger('verification-token', 'no/where issue show 1')).body['text']).toContain(
      'not installed',
    )
    expect((await trigger('another')).status).toBe(404)
    expect((await trigger('')).status).toBe(404)
    await set(world, { chat_app_verification_token: 'another' })
    expect((await trigger('another')).status).toBe(200)
    expect((await trigger('verification-token')).status).toBe(404)
  })
  expect((await trigger('verification-token')).status).toBe(404)
})

const team = { team_id: 'T1', team_domain: 'house', user_id: 'U1', user_name: 'ada', channel_name: 'general' }

/** The address of the page that a chat shows to who is not known, as a path. */
const pageIn = (text: string): string => /<http:\/\/[^/]+(\/[^|]+)\|/.exec(text)![1]!

/** Says at the page who of ours somebody of a chat is. */
async function connect(page: string, by = browser, decision = 'allow'): Promise<void> {
  const { status, text } = await by.get(page)
  expect(status).toBe(200)
  const body = new URLSearchParams({ decision })
  for (const [, name, value] of text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g))
    body.set(name!, value!)
  const sent = await fetch(`${world.url}/-/profile/chat_names`, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { cookie: by.cookie, 'sec-fetch-site': 'same-origin' },
  })
  expect(sent.status).toBe(302)
}

describe('slash commands of a project', () => {
  const trigger = (
    text: string,
    fields: Json = {},
    place: string | number = project.id,
    slug = 'slack-slash-commands',
  ): Promise<Reply> =>
    world.anonymous.post(`/projects/${encodeURIComponent(place)}/integrations/${slug}/trigger`, {
      token: 'project-token',
      command: '/ours',
      ...team,
      ...fields,
      text,
    })
  const said = async (text: string, fields?: Json): Promise<Json> =>
    expectStatus(await trigger(text, fields), 200)
  const textOf = async (text: string, fields?: Json): Promise<string> =>
    (await said(text, fields))['text'] as string

  beforeAll(async () => {
    await set(world, local)
    for (const slug of ['slack-slash-commands', 'mattermost-slash-commands']) {
      const set = { token: 'project-token' }
      const made = expectStatus(
        await world.root.put(`/projects/${project.id}/integrations/${slug}`, set),
        200,
      )
      expect(JSON.stringify(made)).not.toContain('project-token')
    }
    await connect(pageIn(await textOf('issue show 1')))
  })

  test('need their token, and a place that has them', async () => {
    expect((await trigger('help', { token: 'another' })).status).toBe(404)
    expect((await trigger('help', {}, 987_654)).status).toBe(404)
    expect((await trigger('help', {}, 'no/where')).status).toBe(404)
    expect((await trigger('help', {}, project.path_with_namespace)).status).toBe(200)
    expect((await trigger('help', { token: undefined })).status).toBe(400)
    const other = await world.project()
    expect((await trigger('help', {}, other.id)).status).toBe(404)
    expect(await textOf('help')).toContain('/ours issue new &lt;title&gt;')
    expect(await textOf('nonsense')).toContain('/ours help')
  })

  test('act as the user whom the person has said to be, by his rights', async () => {
    const issues = `/projects/${project.id}/issues`
    const made = await said('issue new A <fault>\nDetails of it')
    expect(made).toMatchObject({ response_type: 'in_channel' })
    const [, iid] = /#(\d+) A &lt;fault&gt;>/.exec(made['text'] as string)!
    const issue = expectStatus(await world.root.get(`${issues}/${iid}`), 200)
    expect(issue).toMatchObject({ title: 'A <fault>', description: 'Details of it', author: { id: ada.id } })
    expect(await textOf(`issue show ${iid}`)).toMatch(/State: open\nDetails of it$/)
    expect(await textOf('issue search fault')).toContain(`#${iid}`)
    expect(await textOf('issue search nothing like it')).toContain('No issue matches')
    expect(await textOf(`issue comment ${iid}\nWell\nsaid`)).toContain('Commented on issue')
    const notes = (await world.root.get(`${issues}/${iid}/notes`)).body as unknown as Json[]
    expect(notes.map(({ body }) => body as string)).toContain('Well\nsaid')
    const target = await world.project()
    expect(await textOf(`issue move ${iid} to ${target.path_with_namespace}`)).toContain('no such project')
    const member = { user_id: ada.id, access_level: 30 }
    expectStatus(await world.root.post(`/projects/${target.id}/members`, member), 201)
    expect(await textOf(`issue close ${iid}`)).toContain('Closed issue')
    expect(await textOf(`issue close ${iid}`)).toContain('closed already')
    const second = /#(\d+)/.exec(await textOf('issue new Second'))![1]!
    expect(await textOf(`issue move ${second} to ${target.path_with_namespace}`)).toContain('Moved issue')
    expect((await world.root.get(`/projects/${target.id}/issues/1`)).body).toMatchObject({ title: 'Second' })
    expect(await textOf('issue show 999')).toContain('There is no issue')
  })

  test('tell only who asked of what is confidential', async () => {
    const fields = { title: 'Hush', confidential: true }
    const { iid } = expectStatus(await world.root.post(`/projects/${project.id}/issues`, fields), 201)
    expect(await said(`issue show ${iid as number}`)).toMatchObject({ response_type: 'ephemeral' })
    const guest = await newPerson(project, 10)
    const person = { user_id: 'U2' }
    await connect(pageIn(await textOf('issue show 1', person)), await signedIn(guest))
    expect(await textOf(`issue show ${iid as number}`, person)).toContain('There is no issue')
  })

  test('end with the membership, the account and the link', async () => {
    const guest = await newPerson(project, 10)
    const person = { user_id: 'U3' }
    const own = await signedIn(guest)
    const page = pageIn(await textOf('issue new x', person))
    await connect(page, own, 'deny')
    expect(await textOf('issue search x', person)).toContain('connect your account')
    await connect(page, own)
    expect(await textOf('issue search x', person)).toContain('No issue')
    expectStatus(await world.root.post(`/users/${guest.id}/block`), 201)
    expect(await textOf('issue search x', person)).toContain('no such project')
    expectStatus(await world.root.post(`/users/${guest.id}/unblock`), 201)
    expectStatus(await world.root.delete(`/projects/${project.id}/members/${guest.id}`), 204)
    expect(await textOf('issue search x', person)).toContain('no such project')
    const again = await signedIn(guest)
    const { text } = await again.get('/-/profile/chat_names')
    const [, id] = /chat_names\/(\d+)\/remove/.exec(text)!
    const csrf = /authenticity_token" value="([^"]+)"/.exec(text)![1]!
    const remove = (fields: Record<string, string>) =>
      again.post(`/-/profile/chat_names/${id}/remove`, fields)
    expect((await remove({ authenticity_token: 'no' })).status).toBe(403)
    expect((await remove({ authenticity_token: csrf })).status).toBe(302)
    expect(await textOf('issue search x', person)).toContain('connect your account')
  })

  test('a page asks only for what a chat gave, and of who is signed in', async () => {
    const page = pageIn(await textOf('issue new x', { user_id: 'U9', user_name: '<b>eve</b>' }))
    expect((await new Browser(world).get(page)).location).toContain('/users/sign_in?return_to=')
    const { text } = await browser.get(page)
    expect(text).toContain('&lt;b&gt;eve&lt;/b&gt;')
    expect(text).toContain(`<strong>${project.path_with_namespace}</strong>`)
    for (const token of ['', 'x', page.split('token=')[1]!.slice(1)])
      expect((await browser.get(`/-/profile/chat_names/new?token=${token}`)).status).toBe(404)
    const forged = await browser.post('/-/profile/chat_names', { authenticity_token: 'x' })
    expect(forged.status).toBe(403)
  })

  test('of one project know nobody by the word of another', async () => {
    const other = await world.project()
    const one = `/projects/${other.id}/integrations/mattermost-slash-commands`
    expectStatus(await world.root.put(one, { token: 'project-token' }), 200)
    const { body } = await trigger('issue new x', {}, other.id, 'mattermost-slash-commands')
    expect(body['text']).toContain('[connect your account](http')
    expectStatus(await world.root.delete(one), 204)
    expect((await trigger('help', {}, other.id, 'mattermost-slash-commands')).status).toBe(404)
  })

  test('deploy by the manual job that there is for it', async () => {
    const made = await world.project()
    const one = `/projects/${made.id}/integrations/slack-slash-commands`
    expectStatus(await world.root.put(one, { token: 'project-token' }), 200)
    const member = { user_id: ada.id, access_level: 30 }
    expectStatus(await world.root.post(`/projects/${made.id}/members`, member), 201)
    await pushFiles(world, made, {
      '.gitlab-ci.yml': `
stage-it: { script: [echo], environment: staging }
go: { script: [echo], environment: live, when: manual }
answer: { script: ['echo "said $CHAT_INPUT"'], only: [chat] }
`,
    })
    await world.settled()
    const ask = async (text: string, fields: Json = {}): Promise<string> =>
      (await trigger(text, fields, made.id)).body['text'] as string
    await connect(pageIn(await ask('issue show 1')))
    expect(await ask('deploy staging to live')).toContain('no job that deploys')
    const runner = await RawRunner.forProject(world, made)
    await (await runner.take()).end('success')
    await world.settled()
    // The branch is protected: a developer may not do here what he may not do there.
    expect(await ask('deploy staging to live')).toContain('403 Forbidden')
    expect(await ask('run answer to <you>')).toContain('sufficient permission')
    const maintainer = { access_level: 40 }
    expectStatus(await world.root.put(`/projects/${made.id}/members/${ada.id}`, maintainer), 200)
    expect(await ask('deploy staging to live')).toContain('has started')
    expect((await runner.take()).payload).toMatchObject({ job_info: { name: 'go' } })
    expect(await ask('deploy staging to nowhere')).toContain('no job that deploys')
    expect(await ask('deploy nowhere to live')).toContain('no job that deploys')

    // A job of its own for the chat, which hears what it said.
    const path = `/${world.unique('reply')}`
    expect(await ask('run nothing')).toContain('no job nothing')
    const started = await ask('run answer to <you>', { response_url: receiver.url + path })
    const pipelineId = Number(/#(\d+)>/.exec(started)![1])
    const pipeline = expectStatus(await world.root.get(`/projects/${made.id}/pipelines/${pipelineId}`), 200)
    expect(pipeline).toMatchObject({ source: 'chat', user: { id: ada.id } })
    const job = await runner.take()
    expect(['CHAT_INPUT', 'CHAT_CHANNEL', 'CHAT_USER_ID'].map((key) => job.variable(key))).toEqual([
      'to <you>',
      'general',
      'U1',
    ])
    await job.say('said to <you>\n')
    await job.end('success')
    const { body } = await receiver.next(path)
    expect(body).toMatchObject({ response_type: 'in_channel' })
    expect(body['text']).toMatch(/ has passed\nsaid to &lt;you&gt;$/)
    await world.settled()
    expect(receiver.at(path)).toHaveLength(1)
  })
})

describe('the app in a workspace', () => {
  let at: string
  let owner: Browser
  beforeAll(async () => {
    at = `/${project.path_with_namespace}/-/settings`
    owner = await signedIn(await newPerson(project, 40))
  })
  const page = (by = owner) => by.get(`${at}/integrations/gitlab_slack_application/edit`)
  /** Where the page leads on to, at the platform. */
  const consent = async (by = owner): Promise<URLSearchParams> => {
    const [, link] = /href="(http[^"]*\/oauth\/v2\/authorize[^"]*)"/.exec((await page(by)).text)!
    return new URL(link!.replaceAll('&amp;', '&')).searchParams
  }
  const install = async (fields: Record<string, string> = {}, by = owner) => {
    const state = (await consent(by)).get('state')!
    return by.get(
      `${at}/slack/slack_auth?${new URLSearchParams({ code: 'a-code', state, ...fields }).toString()}`,
    )
  }
  const exchanged = (): Json =>
    platform.asked.findLast(({ method }) => method === 'oauth.v2.access')?.fields ?? {}

  test('chat_app_id, chat_app_secret: is installed by them', async () => {
    await during(world, app, async () => {
      const asked = await consent()
      expect(asked.get('client_id')).toBe('client-id')
      expect(asked.get('redirect_uri')).toBe(`${world.url}${at}/slack/slack_auth`)
      const done = await install()
      expect([done.status, done.text.includes('The &lt;house&gt;')]).toEqual([200, true])
      expect(exchanged()).toEqual({
        client_id: 'client-id',
        client_secret: 'client-secret',
        code: 'a-code',
        redirect_uri: `${world.url}${at}/slack/slack_auth`,
      })
      await set(world, { chat_app_id: 'other-id', chat_app_secret: 'other-secret' })
      expect((await consent()).get('client_id')).toBe('other-id')
      await install()
      expect(exchanged()).toMatchObject({ client_id: 'other-id', client_secret: 'other-secret' })
    })
    expect((await page()).status).toBe(404)
  })

  test('is installed by who may, and was asked for here', async () => {
    await during(world, app, async () => {
      expect((await page(browser)).status).toBe(404)
      expect((await new Browser(world).get(`${at}/slack/slack_auth`)).location).toContain('/users/sign_in')
      const before = platform.asked.length
      const state = (await consent()).get('state')!
      expect((await install({ state: 'another' })).status).toBe(403)
      expect((await install({ code: '' })).status).toBe(400)
      const second = await signedIn(await newPerson(project, 40))
      expect((await second.get(`${at}/slack/slack_auth?code=c&state=${state}`)).status).toBe(403)
      expect(platform.asked).toHaveLength(before)
    })
  })

  test('is not there where the platform makes no sense', async () => {
    const answers = [
      { status: 500, text: '{"ok":true}' },
      { text: '' },
      { text: '[' },
      { text: 'null' },
      { text: '{"ok":false,"error":"invalid_code"}' },
      { text: '{"ok":true,"team":{"id":["T1"]},"access_token":{}}' },
      { text: '{"ok":true,"team":{"id":"T\\u0000"},"access_token":"x"}' },
      { text: `{"ok":true,"x":"${'x'.repeat(2_000_000)}"}` },
      { status: 302, text: '', location: '/api/elsewhere' },
      undefined,
    ]
    await during(world, app, async () => {
      try {
        for (const answer of answers) {
          platform.says = () => answer
          expect((await install()).status).toBe(400)
        }
      } finally {
        platform.says = undefined
      }
      await set(world, { allow_local_requests_from_web_hooks_and_services: false })
      const before = platform.asked.length
      expect((await install()).text).toContain('URL is blocked')
      expect(platform.asked).toHaveLength(before)
    })
  })

  test('says in its channels what happens', async () => {
    const made = await world.project()
    const one = `/projects/${made.id}/integrations/gitlab-slack-application`
    const issue = (title: string) => world.root.post(`/projects/${made.id}/issues`, { title })
    const heard = async (title: string): Promise<Json[]> => {
      expectStatus(await issue(title), 201)
      await world.settled()
      return platform.messages.filter(({ text }) => (text as string).includes(title))
    }
    await during(world, app, async () => {
      expect((await world.root.put(one, { channel: '#all' })).status).toBe(422)
      const place = at
      at = `/${made.path_with_namespace}/-/settings`
      const by = await signedIn(await newPerson(made, 40))
      expect((await install({}, by)).status).toBe(200)
      at = place
      expect(await heard('to nobody')).toEqual([])
      const set = { issue_channel: '#one, #two', channel: '#all', token: 'not of it' }
      expect(expectStatus(await world.root.put(one, set), 200)).toMatchObject({
        slug: 'gitlab-slack-application',
        active: true,
        properties: { issue_channel: '#one, #two', channel: '#all' },
      })
      const told = await heard('to <two>')
      expect(told).toEqual([])
      const both = platform.messages.filter(({ text }) => (text as string).includes('to &lt;two&gt;'))
      expect(both.map(({ channel }) => channel as string)).toEqual(['#one', '#two'])
      expect(platform.asked.at(-1)?.authorization).toBe('Bearer bot-token')
      platform.says = () => ({ text: '{"ok":false,"error":"channel_not_found"}' })
      await heard('in vain')
      platform.says = undefined
      expect(await heard('again')).toHaveLength(2)
      expectStatus(await world.root.delete(one), 204)
      expect(await heard('after it')).toEqual([])
      expect((await world.root.put(one, { channel: '#all' })).status).toBe(422)
    })
  })

  test('takes commands for the projects it is installed for', async () => {
    const trigger = async (text: string, fields: Json = {}): Promise<string> => {
      const sent = { token: 'verification-token', command: '/gitlab', ...team, ...fields, text }
      return expectStatus(await world.anonymous.post('/slack/trigger', sent), 200)['text'] as string
    }
    const path = project.path_with_namespace
    await during(world, app, async () => {
      await install()
      expect(await trigger(`${path} issue new x`, { team_id: 'T2' })).toContain('not installed')
      // The word of the project's own slash commands, who knew him, does not count here.
      await connect(pageIn(await trigger(`${path} issue new x`)))
      const said = await trigger(`${path.toUpperCase()} issue new By the app`)
      expect(said).toMatch(/Created issue <.*By the app>/)
      expect(await trigger(`${path} nonsense`)).toContain(`/gitlab ${path} issue new`)
    })
  })
})

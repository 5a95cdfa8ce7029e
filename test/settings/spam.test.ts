import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

interface Answer {
  readonly status?: number
  readonly text?: string
  readonly location?: string
}

let world: World
let server: Server
let project: Made
let person: Person
/** The filter under `/filter`, the provider of captchas under `/captcha`: what they were asked, and what they say. */
let asked: { path: string; fields: Json }[]
let says: (path: string, fields: Json) => Answer | undefined | Promise<Answer | undefined>

beforeAll(async () => {
  server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? ''
      const fields = Object.fromEntries(new URLSearchParams(await text(request)))
      asked.push({ path, fields: { ...fields, type: request.headers['content-type'] } })
      const answer = await says(path, fields)
      if (answer === undefined) return request.socket.destroy()
      const { status = 200, location } = answer
      return response.writeHead(status, location === undefined ? {} : { location }).end(answer.text)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  world = await startWorld({ SPAMFILTER_URL: `${url}/filter`, CAPTCHA_URL: `${url}/captcha` })
  project = await world.project({ visibility: 'public' })
  person = await world.member({ project }, 'maintainer')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
  says = (path, { comment_content, response }) => {
    if (path === '/captcha/siteverify') return { text: JSON.stringify({ success: response === 'solved' }) }
    return { text: String((comment_content as string).includes('pills')) }
  }
})

const local = { allow_local_requests_from_web_hooks_and_services: true }
const filter = { ...local, spamfilter_enabled: true, spamfilter_api_key: 'filter-key' }
const keys = { recaptcha_site_key: 'site', recaptcha_private_key: 'private' }
const captcha = { recaptcha_enabled: true, ...keys }
const issues = () => `/projects/${project.id}/issues`
const spam = { title: 'Buy pills', description: 'Cheap pills' }
const recognised = (kind: string, rest = 'to proceed.') =>
  `Your ${kind} has been recognized as spam. Please, change the content ${rest}`

describe('the spam filter', () => {
  test('spamfilter_enabled, spamfilter_api_key: it is asked about issues that everybody reads', async () => {
    await during(world, filter, async () => {
      const refused = await person.post(issues(), spam, {
        'user-agent': 'a browser',
        referer: 'https://from.example/',
      })
      expect([refused.status, refused.body]).toEqual([422, { message: { base: [recognised('issue')] } }])
      const { name, email } = expectStatus(await person.get('/user'), 200)
      expect(asked).toEqual([
        {
          path: '/filter/comment-check',
          fields: {
            api_key: 'filter-key',
            blog: world.url,
            user_ip: '127.0.0.1',
            user_agent: 'a browser',
            referrer: 'https://from.example/',
            comment_type: 'comment',
            comment_author: name as string,
            comment_author_email: email as string,
            comment_content: 'Buy pills\n\nCheap pills',
            type: 'application/x-www-form-urlencoded',
          },
        },
      ])
      const { iid } = expectStatus(await person.post(issues(), { title: 'A fault' }), 201)
      const one = `${issues()}/${iid as number}`
      expect((await person.put(one, { description: 'pills' })).status).toBe(422)
      expect((await person.get(one)).body).toMatchObject({ title: 'A fault', description: null })
      // What only members read is nobody's business; what becomes public is looked at then.
      expectStatus(await person.put(one, { description: 'pills', confidential: true }), 200)
      expect((await person.put(one, { confidential: false })).status).toBe(422)
      const before = asked.length
      expectStatus(await person.put(one, { state_event: 'close' }), 200)
      expectStatus(await person.post(issues(), { ...spam, confidential: true }), 201)
      const inside = await world.project()
      expectStatus(await world.root.post(`/projects/${inside.id}/issues`, spam), 201)
      expect(asked).toHaveLength(before)
    })
    expectStatus(await person.post(issues(), spam), 201)
  })

  test('it is asked about snippets and notes', async () => {
    const snippet = { title: 'Mine', file_name: 'a.txt', content: 'pills', visibility: 'public' }
    const { iid } = expectStatus(await person.post(issues(), { title: 'Talk' }), 201)
    const hidden = expectStatus(await person.post(issues(), { title: 'Talk', confidential: true }), 201)
    const notes = `${issues()}/${iid as number}/notes`
    await during(world, filter, async () => {
      for (const path of ['/snippets', `/projects/${project.id}/snippets`]) {
        const refused = await person.post(path, snippet)
        expect([refused.status, refused.body]).toEqual([400, { message: { base: [recognised('snippet')] } }])
        const { id } = expectStatus(await person.post(path, { ...snippet, visibility: 'private' }), 201)
        expect(
          (await person.put(`${path}/${id as number}`, { visibility: 'public', title: 'pills' })).status,
        ).toBe(400)
        expect((await person.get(`${path}/${id as number}`)).body).toMatchObject({
          title: 'Mine',
          visibility: 'private',
        })
      }
      const refused = await person.post(notes, { body: 'pills' })
      const message = `400 Bad request - Note {:base=>["${recognised('comment')}"]}`
      expect([refused.status, refused.body]).toEqual([400, { message }])
      const { id } = expectStatus(await person.post(notes, { body: 'well' }), 201)
      expect((await person.put(`${notes}/${id as number}`, { body: 'pills' })).status).toBe(400)
      expect((await person.post(`${issues()}/${iid as number}/discussions`, { body: 'pills' })).status).toBe(
        400,
      )
      expectStatus(await person.post(notes, { body: 'pills', internal: true }), 201)
      expectStatus(await person.post(`${issues()}/${hidden['iid'] as number}/notes`, { body: 'pills' }), 201)
    })
    expectStatus(await person.post(notes, { body: 'pills' }), 201)
  })

  test('stops nobody when it is out of order, and is not asked in silent mode', async () => {
    const broken: (typeof says)[] = [
      () => ({ status: 500, text: 'true' }),
      () => ({ text: 'invalid' }),
      () => ({ text: 'true'.repeat(1_000_000) }),
      () => ({ status: 302, location: '/filter/comment-check' }),
      () => undefined,
    ]
    await during(world, filter, async () => {
      for (const answer of broken) {
        says = answer
        expectStatus(await person.post(issues(), spam), 201)
      }
      expect(asked.length).toBeGreaterThanOrEqual(broken.length)
      says = () => ({ text: 'true' })
      const before = asked.length
      await set(world, { silent_mode_enabled: true })
      expectStatus(await person.post(issues(), spam), 201)
      await set(world, {
        silent_mode_enabled: false,
        allow_local_requests_from_web_hooks_and_services: false,
      })
      expectStatus(await person.post(issues(), spam), 201)
      expect(asked).toHaveLength(before)
    })
  })
})

describe('captchas', () => {
  test('recaptcha_enabled, recaptcha_site_key, recaptcha_private_key: who solves one says what was taken for spam', async () => {
    await during(world, { ...filter, ...captcha }, async () => {
      const refuse = async (by = person): Promise<Reply> => by.post(issues(), spam)
      const answer = (id: unknown, response: string, by = person): Promise<Reply> =>
        by.post(issues(), spam, {
          'x-gitlab-captcha-response': response,
          'x-gitlab-spam-log-id': String(id),
        })
      const refused = await refuse()
      const id = refused.body.spam_log_id as number
      expect([refused.status, refused.body]).toEqual([
        409,
        {
          needs_captcha_response: true,
          spam_log_id: id,
          captcha_site_key: 'site',
          message: { error: recognised('issue', 'or solve the reCAPTCHA to proceed.') },
        },
      ])
      // A wrong answer, somebody else's refusal, none at all.
      expect((await answer(id, 'guessed')).status).toBe(409)
      expect((await answer(id, 'solved', await world.member({ project }, 'reporter'))).status).toBe(409)
      for (const strange of ['', '-1', '1.5', 'x', '99999999999999999999', String(2 ** 53)])
        expect((await answer(strange, 'solved')).status).toBe(409)
      says = (path) => (path === '/captcha/siteverify' ? { status: 500 } : { text: 'true' })
      expect((await answer(id, 'solved')).status).toBe(409)
      says = (path, { response }) =>
        path === '/captcha/siteverify'
          ? { text: JSON.stringify({ success: response === 'solved' }) }
          : { text: 'true' }
      asked = []
      expectStatus(await answer(id, 'solved'), 201)
      expect(asked).toMatchObject([
        {
          path: '/captcha/siteverify',
          fields: { secret: 'private', response: 'solved', remoteip: '127.0.0.1' },
        },
      ])
      expect((await answer(id, 'solved')).status).toBe(409)
    })
    await during(world, filter, async () => expect((await person.post(issues(), spam)).status).toBe(422))
  })

  test('recaptcha_enabled: who signs up solves one', async () => {
    const open = { ...local, require_admin_approval_after_user_signup: false }
    const signUp = async (more: Readonly<Record<string, string>> = {}): Promise<number> => {
      const username = world.unique('person')
      const fields = {
        name: 'New',
        username,
        email: `${username}@example.com`,
        password: 'correct horse battery',
      }
      const body = new URLSearchParams([
        ...Object.entries(fields).map(([name, value]): [string, string] => [`user[${name}]`, value]),
        ...Object.entries(more),
      ])
      const headers = { 'sec-fetch-site': 'same-origin' }
      return (await fetch(`${world.url}/users`, { method: 'POST', body, headers, redirect: 'manual' })).status
    }
    await during(world, { ...open, ...captcha }, async () => {
      const page = await fetch(`${world.url}/users/sign_up`)
      const shown = await page.text()
      expect(shown).toContain('<div class="g-recaptcha" data-sitekey="site"></div>')
      expect(shown).toMatch(/<script src="http:[^"]*\/captcha\.js"/)
      expect(page.headers.get('content-security-policy')).toMatch(
        /script-src 'self' http:\/\/127\.0\.0\.1:\d+ /,
      )
      expect(await signUp()).toBe(422)
      expect(await signUp({ 'g-recaptcha-response': 'guessed' })).toBe(422)
      expect(await signUp({ 'g-recaptcha-response': 'solved' })).toBe(302)
    })
    await during(world, open, async () => expect(await signUp()).toBe(302))
    expect(await (await fetch(`${world.url}/users/sign_up`)).text()).not.toContain('g-recaptcha')
  })

  test('login_recaptcha_protection_enabled: who often failed to sign in solves one', async () => {
    const password = 'correct horse battery'
    const { username } = await world.user({ force_random_password: undefined, password })
    const signIn = async (secret: string, response?: string): Promise<[number, string | undefined]> => {
      const fields = {
        login: username,
        password: secret,
        ...(response && { 'g-recaptcha-response': response }),
      }
      const answer = await fetch(`${world.url}/users/sign_in`, {
        method: 'POST',
        body: JSON.stringify(fields),
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      })
      return [answer.status, ((await answer.json()) as { needs?: string }).needs]
    }
    const page = async (): Promise<string> => (await fetch(`${world.url}/users/sign_in`)).text()
    await during(world, { ...local, ...keys, login_recaptcha_protection_enabled: true }, async () => {
      for (let tries = 0; tries < 5; tries += 1) {
        expect(await page()).not.toContain('g-recaptcha')
        expect(await signIn('wrong')).toEqual([401, undefined])
      }
      expect(await page()).toContain('<div class="g-recaptcha" data-sitekey="site"></div>')
      expect(await signIn(password)).toEqual([401, 'captcha'])
      expect(await signIn(password, 'guessed')).toEqual([401, 'captcha'])
      expect(await signIn(password, 'solved')).toEqual([200, undefined])
    })
    expect(await page()).not.toContain('g-recaptcha')
    expect(await signIn(password)).toEqual([200, undefined])
  })
})

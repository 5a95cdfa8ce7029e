import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { status } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { selfSigned } from '../world/self-signed.ts'
import { SpamCheckServerOfTests } from '../world/spam-check-server.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

let world: World
let project: Made
let person: Person
let server: SpamCheckServerOfTests

beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'public' })
  person = await world.member({ project }, 'maintainer')
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  server = await SpamCheckServerOfTests.open()
  server.says = ({ title, description, text }) => {
    const said = [title, description, text].join(' ')
    return { verdict: said.includes('pills') ? 'DISALLOW' : 'ALLOW' }
  }
})
afterEach(() => server[Symbol.asyncDispose]())

const local = { allow_local_requests_from_web_hooks_and_services: true }
const checking = (more: Json = {}): Json => ({
  ...local,
  spam_check_endpoint_enabled: true,
  spam_check_endpoint_url: `grpc://127.0.0.1:${server.port}`,
  ...more,
})
const captcha = { recaptcha_enabled: true, recaptcha_site_key: 'site', recaptcha_private_key: 'private' }
const issues = () => `/projects/${project.id}/issues`
const spam = { title: 'Buy pills', description: 'Cheap pills' }
const write = async (): Promise<number> => (await person.post(issues(), spam)).status
const recognised = (kind: string) =>
  `Your ${kind} has been recognized as spam. Please, change the content to proceed.`

describe('the spam-check server', () => {
  test('spam_check_endpoint_enabled: it is asked about issues that everybody reads', async () => {
    await during(world, checking(), async () => {
      const refused = await person.post(issues(), spam)
      expect([refused.status, refused.body]).toEqual([422, { message: { base: [recognised('issue')] } }])
      const { id, username, email } = expectStatus(await person.get('/user'), 200)
      expect(server.asked).toMatchObject([
        {
          method: 'CheckForSpamIssue',
          key: undefined,
          message: {
            ...spam,
            user: { id, username, emails: [{ email, verified: true }] },
            action: 'CREATE',
            createdAt: null,
            userInProject: true,
            project: { projectId: project.id, projectPath: project['path_with_namespace'] },
          },
        },
      ])
      const fine = expectStatus(await person.post(issues(), { title: 'A fault' }), 201)
      const one = `${issues()}/${fine['iid'] as number}`
      const stranger = await world.user()
      expect((await person.put(one, { description: 'pills' })).status).toBe(422)
      const { message } = server.asked.at(-1)!
      expect(message).toMatchObject({ title: 'A fault', description: 'pills', action: 'UPDATE' })
      const { seconds, nanos } = message['createdAt'] as { seconds: unknown; nanos: number }
      expect(Number(seconds) * 1000 + nanos / 1e6).toBe(Date.parse(fine['created_at'] as string))
      expect((await stranger.post(issues(), spam)).status).toBe(422)
      expect(server.asked.at(-1)!.message).toMatchObject({ userInProject: false })
    })
    expect(await write()).toBe(201)
  })

  test('it is asked about snippets, and about notes', async () => {
    const snippet = { title: 'Mine', file_name: 'a.txt', content: 'pills', visibility: 'public' }
    const { iid } = expectStatus(await person.post(issues(), { title: 'Talk' }), 201)
    const notes = `${issues()}/${iid as number}/notes`
    await during(world, checking(), async () => {
      for (const [path, named] of [
        ['/snippets', null],
        [`/projects/${project.id}/snippets`, { projectId: project.id }],
      ] as const) {
        const refused = await person.post(path, snippet)
        expect([refused.status, refused.body]).toEqual([400, { message: { base: [recognised('snippet')] } }])
        const { method, message } = server.asked.at(-1)!
        expect(method).toBe('CheckForSpamSnippet')
        expect(message).toMatchObject({
          title: 'Mine',
          description: 'pills',
          visibility: 'public',
          files: [{ path: 'a.txt' }],
          userInProject: named !== null,
        })
        if (named === null) expect(message['project']).toBeNull()
        else expect(message['project']).toMatchObject(named)
      }
      expect((await person.post(notes, { body: 'pills' })).status).toBe(400)
      expect(server.asked.at(-1)).toMatchObject({
        method: 'CheckForSpamGeneric',
        message: { text: 'pills', type: 'Note', action: 'CREATE', project: { projectId: project.id } },
      })
      const { id } = expectStatus(await person.post(notes, { body: 'well' }), 201)
      expect((await person.put(`${notes}/${id as number}`, { body: 'pills' })).status).toBe(400)
      expect(server.asked.at(-1)!.message).toMatchObject({ text: 'pills', action: 'UPDATE' })
    })
  })

  test('spam_check_endpoint_url: another server is another verdict', async () => {
    await using other = await SpamCheckServerOfTests.open()
    await during(world, checking(), async () => {
      expect(await write()).toBe(422)
      await set(world, { spam_check_endpoint_url: `grpc://localhost:${other.port}` })
      expect(await write()).toBe(201)
      expect([server.asked.length, other.asked.length]).toEqual([1, 1])
      await set(world, { spam_check_endpoint_url: `grpc://127.0.0.1:${server.port}` })
      expect(await write()).toBe(422)
    })
  })

  test('spam_check_endpoint_url: with tls it shows a certificate that is trusted', async () => {
    const identity = selfSigned('localhost')
    await using encrypted = await SpamCheckServerOfTests.open(identity)
    encrypted.says = () => ({ verdict: 'DISALLOW' })
    const trusted = getCACertificates()
    const url = `tls://localhost:${encrypted.port}`
    await during(world, checking({ spam_check_endpoint_url: url }), async () => {
      expect(await write()).toBe(201)
      setDefaultCACertificates([...trusted, identity.certificate])
      try {
        expect(await write()).toBe(422)
        // Found at the address that was checked, or by the library itself.
        await set(world, { dns_rebinding_protection_enabled: false })
        expect(await write()).toBe(422)
        // It is somebody else's certificate.
        await set(world, { spam_check_endpoint_url: `tls://127.0.0.1:${encrypted.port}` })
        expect(await write()).toBe(201)
        const addressed = selfSigned('127.0.0.1')
        await using other = await SpamCheckServerOfTests.open(addressed)
        other.says = encrypted.says
        setDefaultCACertificates([...trusted, addressed.certificate])
        await set(world, { spam_check_endpoint_url: `tls://127.0.0.1:${other.port}` })
        expect(await write()).toBe(422)
        expect(encrypted.asked).toHaveLength(2)
      } finally {
        setDefaultCACertificates(trusted)
      }
      // A server that speaks plainly is not asked then, and the other way round.
      await set(world, { spam_check_endpoint_url: `tls://localhost:${server.port}` })
      expect(await write()).toBe(201)
      await set(world, { spam_check_endpoint_url: `grpc://localhost:${encrypted.port}` })
      expect(await write()).toBe(201)
      expect([server.asked.length, encrypted.asked.length]).toEqual([0, 2])
    })
  })

  test('spam_check_api_key: it is sent along', async () => {
    await during(world, checking(), async () => {
      expect(await write()).toBe(422)
      expect(server.asked.at(-1)!.key).toBeUndefined()
      await during(world, { spam_check_api_key: 'the-key' }, async () => {
        expect(await write()).toBe(422)
        expect(server.asked.at(-1)!.key).toBe('the-key')
      })
      expect(await write()).toBe(422)
      expect(server.asked.at(-1)!.key).toBeUndefined()
      // No key that the protocol has: the text is said unseen.
      await set(world, { spam_check_api_key: 'schlüssel\nund mehr' })
      expect(await write()).toBe(201)
      expect(server.asked).toHaveLength(3)
    })
  })

  test('decides by its verdict, unless it is only being watched', async () => {
    await during(world, checking(), async () => {
      for (const [verdict, answered] of [
        ['ALLOW', 201],
        ['NOOP', 201],
        ['CONDITIONAL_ALLOW', 422],
        ['DISALLOW', 422],
        ['BLOCK', 422],
        [99, 201],
      ] as const) {
        server.says = () => ({ verdict })
        expect([verdict, await write()]).toEqual([verdict, answered])
      }
      server.says = () => ({ verdict: 'BLOCK', extraAttributes: { monitorMode: 'true' } })
      expect(await write()).toBe(201)
      server.says = () => ({
        verdict: 'DISALLOW',
        extraAttributes: { monitorMode: 'false' },
        error: 'a part',
      })
      expect(await write()).toBe(422)
      expect(server.asked).toHaveLength(8)
    })
  })

  test('lets a captcha be solved only where it says so', async () => {
    const answer = (id: number): Promise<{ status: number }> =>
      person.post(issues(), spam, {
        'x-gitlab-captcha-response': 'solved',
        'x-gitlab-spam-log-id': String(id),
      })
    await during(world, checking(captcha), async () => {
      server.says = () => ({ verdict: 'CONDITIONAL_ALLOW' })
      const asked = await person.post(issues(), spam)
      expect([asked.status, asked.body]).toMatchObject([409, { needs_captcha_response: true }])
      server.says = () => ({ verdict: 'DISALLOW' })
      expect(await write()).toBe(422)
      // Nobody is told the number of such a refusal, and who guesses it is asked again.
      const before = server.asked.length
      expect((await answer((asked.body['spam_log_id'] as number) + 1)).status).toBe(422)
      expect(server.asked).toHaveLength(before + 1)
    })
  })

  test('stops nobody when it is out of order, and is not asked in silent mode', async () => {
    await during(world, checking(), async () => {
      server.says = () => ({ fails: { code: status.INTERNAL, details: 'broken' } })
      expect(await write()).toBe(201)
      server.says = () => ({ verdict: 'DISALLOW', error: 'long'.repeat(100_000) })
      expect(await write()).toBe(201)
      server.says = () => 'never'
      expect(await write()).toBe(201)
      server.says = () => ({ verdict: 'DISALLOW' })
      const before = server.asked.length
      await set(world, { silent_mode_enabled: true })
      expect(await write()).toBe(201)
      await set(world, { silent_mode_enabled: false })
      expect(await write()).toBe(422)
      // Where nothing local may be asked.
      await set(world, { allow_local_requests_from_web_hooks_and_services: false })
      expect(await write()).toBe(201)
      await set(world, local)
      expect(server.asked).toHaveLength(before + 1)
      await server[Symbol.asyncDispose]()
      expect(await write()).toBe(201)
      for (const spam_check_endpoint_url of ['grpc://nowhere.invalid', 'grpc://[::1]:1', 'grpc://a%20b:1']) {
        await set(world, { spam_check_endpoint_url })
        expect(await write()).toBe(201)
      }
    })
  })
})

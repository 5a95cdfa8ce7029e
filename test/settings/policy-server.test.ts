// @module-tag long
import { generateKeyPairSync } from 'node:crypto'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { knownAcrossProjects } from '../../src/access/index.ts'
import { Copies } from '../git/copies.ts'
import { certificate, certificateKey, lockedCertificateKey } from '../world/certificate.ts'
import { Mailbox } from '../world/mailbox.ts'
import { PolicyServerOfTests } from '../world/policy-server.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import type { Person } from '../world/client.ts'
import { during, set } from './effects.ts'

let world: World
let mailbox: Mailbox
let group: Made
let project: Made
let labelled: Made
let person: Person
let server: PolicyServerOfTests
/** One for each test, since what was said holds. */
let label: string

beforeAll(async () => {
  mailbox = await Mailbox.open()
  world = await startWorld({ SMTP_URL: mailbox.url, PLAN: 'ultimate' })
  group = await world.group({ visibility: 'public' })
  const place = { namespace_id: group.id, visibility: 'public', initialize_with_readme: true }
  project = await world.project(place)
  labelled = await world.project({ ...place, external_authorization_classification_label: 'own' })
  person = await world.member({ group }, 'maintainer')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mailbox[Symbol.asyncDispose]()
})
beforeEach(async () => {
  server = await PolicyServerOfTests.open()
  label = world.unique('label')
})
afterEach(() => server[Symbol.asyncDispose]())

const asking = (more: Json = {}): Json => ({
  external_authorization_service_enabled: true,
  external_authorization_service_url: server.url,
  external_authorization_service_default_label: label,
  external_authorization_service_timeout: 5,
  allow_local_requests_from_web_hooks_and_services: true,
  ...more,
})
const look = async (by: Pick<Person, 'get'> = person, at: Made = project): Promise<number> =>
  (await by.get(`/projects/${at.id}`)).status

describe('the policy server', () => {
  test('is asked about a person and a label, and only its yes opens projects', async () => {
    await during(world, asking(), async () => {
      server.answer = ({ project_classification_label }) => ({
        status: project_classification_label === 'own' ? 403 : 200,
        text: '{"reason": "not for you"}',
      })
      expect(await look()).toBe(200)
      expect(await look(person, labelled)).toBe(404)
      const { email } = expectStatus(await person.get('/user'), 200)
      const question = { method: 'POST', type: 'application/json', user_identifier: email, identities: [] }
      expect(server.asked).toEqual([
        { ...question, project_classification_label: label },
        { ...question, project_classification_label: 'own' },
      ])
      // Nor is anything below it there, for administrators either; who is nobody in particular cannot be asked about.
      expect((await person.get(`/projects/${labelled.id}/issues`)).status).toBe(404)
      expect(await look(world.root, labelled)).toBe(404)
      expect(await look(world.anonymous)).toBe(404)
    })
    expect(await look(person, labelled)).toBe(200)
    expect(await look(world.anonymous)).toBe(200)
  })

  test('is told who people are elsewhere', async () => {
    const elsewhere = { provider: 'ldapmain', extern_uid: 'cn=jane,dc=acme' }
    const jane = await world.user(elsewhere)
    await during(world, asking(), async () => {
      expect(await look(jane)).toBe(200)
      expect(server.asked).toMatchObject([{ identities: [elsewhere], user_ldap_dn: elsewhere.extern_uid }])
    })
  })

  test('is asked once for all projects with a label, whatever it said, and by one of many at once', async () => {
    const other = await world.member({ group }, 'guest')
    const { email } = expectStatus(await other.get('/user'), 200)
    await during(world, asking(), async () => {
      server.answer = ({ user_identifier }) => ({ status: user_identifier === email ? 401 : 200 })
      expect(await Promise.all([look(), look(), look(), look(other)])).toEqual([200, 200, 200, 404])
      expect(server.asked).toHaveLength(2)
      server.answer = ({ user_identifier }) => ({ status: user_identifier === email ? 200 : 401 })
      expect([await look(), await look(other)]).toEqual([200, 404])
      const node = await world.sibling({})
      const there = await fetch(`${node.address}/api/v4/projects/${project.id}`, {
        headers: { 'private-token': person.token },
      })
      expect(there.status).toBe(200)
      expect(server.asked).toHaveLength(2)
      // Another server is not bound by it.
      await using second = await PolicyServerOfTests.open()
      second.answer = () => ({ status: 403 })
      await set(world, { external_authorization_service_url: second.url })
      expect(await look()).toBe(404)
    })
  })

  test('has to know the label of most projects before it becomes another one', async () => {
    await during(world, asking(), async () => {
      const change = async (more: Json = {}): Promise<unknown> => {
        const sent = { external_authorization_service_default_label: 'other', first_day_of_week: 1, ...more }
        const { status, body } = await world.root.put('/application/settings', sent)
        return status === 200 ? 200 : body
      }
      const refused = (reason: string) => ({
        message: { external_authorization_service_default_label: [`is unavailable: ${reason}`] },
      })
      server.answer = () => ({ status: 403, text: '{"reason": "no such label"}' })
      expect(await change()).toEqual(refused('no such label'))
      server.answer = () => ({ status: 401 })
      expect(await change()).toEqual(refused('access is denied'))
      server.answer = () => ({ status: 500 })
      expect(await change()).toEqual(refused('External Policy Server did not respond'))
      // As it is, and where nobody is asked any more.
      expect(await change({ external_authorization_service_default_label: label })).toBe(200)
      expect(await change({ external_authorization_service_enabled: false })).toBe(200)
      await set(world, asking())
      server.answer = () => ({ status: 200 })
      expect(await change()).toBe(200)
    })
  })

  test('lets nobody in, for this once, where it does not say yes or no', async () => {
    await during(world, asking({ external_authorization_service_timeout: 0.3 }), async () => {
      await using elsewhere = await PolicyServerOfTests.open()
      const answers: PolicyServerOfTests['answer'][] = [
        () => ({ status: 500 }),
        () => ({ status: 204 }),
        () => ({ status: 302, headers: { location: elsewhere.url } }),
        () => ({ status: 307, headers: { location: elsewhere.url } }),
        () => undefined,
        () => new Promise((resolve) => setTimeout(resolve, 1000, { status: 200 })),
      ]
      for (const answer of answers) {
        server.answer = answer
        expect(await look()).toBe(404)
      }
      expect(server.asked).toHaveLength(answers.length)
      expect(elsewhere.asked).toHaveLength(0)
      await set(world, { external_authorization_service_timeout: 5 })
      // What comes with a yes is not read to its end.
      server.answer = () => ({ status: 200, text: 'x'.repeat(50_000_000) })
      expect(await look()).toBe(200)
    })
    const { url } = server
    await server[Symbol.asyncDispose]()
    server = await PolicyServerOfTests.open()
    await during(world, asking({ external_authorization_service_url: url }), async () =>
      expect(await look(world.root)).toBe(404),
    )
    await during(world, asking({ allow_local_requests_from_web_hooks_and_services: false }), async () => {
      expect(await look(world.root)).toBe(404)
      expect(server.asked).toHaveLength(0)
    })
    await during(world, asking({ external_authorization_service_url: null }), async () => {
      expect(await look(world.anonymous)).toBe(200)
      expect(server.asked).toHaveLength(0)
    })
  })

  test('closes what shows several projects at once, but for administrators', async () => {
    const across = [
      '/issues',
      '/merge_requests',
      '/todos',
      '/events',
      '/search?scope=projects&search=x',
      `/groups/${group.id}/issues`,
      `/groups/${group.id}/search?scope=issues&search=x`,
      `/groups/${group.id}/packages`,
    ]
    const open = ['/projects', `/groups/${group.id}/projects`, `/groups/${group.id}/labels`, '/user']
    const answers = (by: Person, paths: readonly string[]): Promise<number[]> =>
      Promise.all(paths.map(async (path) => (await by.get(path)).status))
    await during(world, asking(), async () => {
      expect(await answers(person, across)).toEqual(across.map(() => 403))
      expect(await answers(person, open)).toEqual(open.map(() => 200))
      expect(await answers(world.root, across)).toEqual(across.map(() => 200))
      expect(server.asked).toHaveLength(0)
    })
    expect(await answers(person, across)).toEqual(across.map(() => 200))
    const names = new Set(
      world.service.registry.routes.map(({ endpoint: { method, path } }) => `${method} ${path}`),
    )
    expect(knownAcrossProjects.filter((name) => !names.has(name))).toEqual([])
  })

  test('is asked for git, for other projects that a request names, and where a text names things', async () => {
    await using copies = await Copies.open(world)
    const fetch = async (): Promise<number> =>
      (await copies.try(copies.folder, ['ls-remote', copies.url(labelled, person)])).code
    const titled = await world.root.post(`/projects/${labelled.id}/issues`, { title: 'Hidden title' })
    const text = {
      text: `${labelled.path_with_namespace}#${expectStatus(titled, 201)['iid'] as number}`,
      gfm: true,
    }
    const { iid } = expectStatus(
      await world.root.post(`/projects/${project.id}/issues`, { title: 'Here' }),
      201,
    )
    const link = () =>
      person.post(`/projects/${project.id}/issues/${iid as number}/links`, {
        target_project_id: labelled.id,
        target_issue_iid: 1,
      })
    const rendered = async (): Promise<string> => (await person.post('/markdown', text)).body.html as string
    await during(world, asking(), async () => {
      server.answer = ({ project_classification_label }) => ({
        status: project_classification_label === 'own' ? 403 : 200,
      })
      expect(await fetch()).not.toBe(0)
      expect((await link()).status).toBe(404)
      expect(await rendered()).not.toContain('Hidden title')
    })
    expect(await fetch()).toBe(0)
    expect(await rendered()).toContain('Hidden title')
    expectStatus(await link(), 201)
  })

  test('keeps mails from those whom it has not let in', async () => {
    const told = await world.member({ group }, 'developer')
    const shut = await world.member({ group }, 'developer')
    const addressOf = async (of: Person) => expectStatus(await of.get('/user'), 200)['email'] as string
    const [one, two] = [await addressOf(told), await addressOf(shut)]
    await during(world, asking(), async () => {
      server.answer = ({ user_identifier }) => ({ status: user_identifier === two ? 403 : 200 })
      expect([await look(told), await look(shut)]).toEqual([200, 404])
      const issue = { title: 'News', assignee_ids: [told.id, shut.id] }
      expectStatus(await world.root.post(`/projects/${project.id}/issues`, issue), 201)
      await world.settled()
      const news = mailbox.received.filter(({ subject }) => subject.includes('News'))
      expect(news.flatMap(({ to }) => to)).toEqual([one])
    })
  })

  test('external_auth_client_cert, with its key and passphrase, is shown to it', async () => {
    setDefaultCACertificates([...getCACertificates('default'), certificate])
    await using careful = await PolicyServerOfTests.open({
      cert: certificate,
      key: certificateKey,
      ca: certificate,
      requestCert: true,
      rejectUnauthorized: true,
    })
    const secured = asking({ external_authorization_service_url: careful.url })
    await during(world, secured, async () => {
      expect(await look()).toBe(404)
      const refused = async (values: Json, name: string, text: string) => {
        const { status, body } = await world.root.put('/application/settings', values)
        expect([status, body]).toEqual([400, { message: { [`external_auth_client_${name}`]: [text] } }])
      }
      const unread = 'could not read private key, is the passphrase correct?'
      const plain = { external_auth_client_cert: certificate, external_auth_client_key: certificateKey }
      await refused({ external_auth_client_cert: certificate }, 'key', "can't be blank")
      await refused({ ...plain, external_auth_client_key: lockedCertificateKey }, 'key', unread)
      await refused({ ...plain, external_auth_client_key: 'no key' }, 'key', unread)
      await refused(
        { ...plain, external_auth_client_cert: 'none' },
        'cert',
        'is not a valid X509 certificate.',
      )
      const another = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
      const mismatch = 'private key does not match certificate.'
      await refused({ ...plain, external_auth_client_key: another }, 'key', mismatch)
      expect(await look()).toBe(404)
      expect(careful.shown).toEqual([])
      await set(world, plain)
      expect(await look()).toBe(200)
      await set(world, {
        external_auth_client_key: lockedCertificateKey,
        external_auth_client_key_pass: 'opensesame',
      })
      expect(await look(world.root)).toBe(200)
      expect(careful.shown).toEqual(['policy.example', 'policy.example'])
      await refused({ external_auth_client_key_pass: 'another' }, 'key', unread)
      // Without a certificate nobody else is let in.
      await set(world, { external_auth_client_cert: null })
      expect(await look(await world.user())).toBe(404)
    })
    expect(await look()).toBe(200)
  })
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import { Visitor } from '../world/browser.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, rootToken, startWorld, type Json, type World } from '../world/world.ts'

/** The pages that are no places, used as their visitors use them. */
const password = 'correct horse battery staple'

let world: World
let person: Person
let visitor: Visitor

beforeAll(async () => {
  world = await startWorld()
  person = await world.user({ force_random_password: undefined, password })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => {
  visitor = new Visitor(world.url)
})
afterEach(() => visitor[Symbol.asyncDispose]())

const textOf = (selector: string): string | undefined => visitor.document.querySelector(selector)?.textContent
const isHidden = (selector: string): boolean =>
  visitor.document.querySelector(selector)!.hasAttribute('hidden')

test('the first page names the address under which it was reached', async () => {
  await visitor.visit('/')
  expect(visitor.text).toContain(`git clone ${world.url}/root/hello.git`)
})

describe('sign-in', () => {
  test('says that the password is wrong, and lets in with the right one', async () => {
    await visitor.signIn(person.username, 'something else')
    expect(textOf('#message')).toMatch(/invalid/i)
    expect(isHidden('#inside')).toBe(true)
    await visitor.type('[name=password]', password)
    await visitor.submit('#form')
    expect(textOf('#message')).toBe('')
    expect(isHidden('#inside')).toBe(false)
    expect(textOf('#inside')).toContain(`You are signed in as ${person.username}.`)
  })

  test('leads to where somebody wanted to go, and out again', async () => {
    await visitor.visit('/users/sign_in?return_to=%2Fexplore%2Fgroups')
    await visitor.type('[name=login]', person.username)
    await visitor.type('[name=password]', password)
    await visitor.submit('#form')
    await expect.poll(() => visitor.text).toContain('There are no such groups')
    expect(visitor.address).toBe('/explore/groups')
    await visitor.visit('/users/sign_in')
    await visitor.press('Sign out')
    await expect.poll(() => isHidden('#form')).toBe(false)
  })

  test('says what is still to be done', async () => {
    const values = { require_two_factor_authentication: true, two_factor_grace_period: 48 }
    await during(world, values, () => visitor.signIn(person.username, password))
    expect(textOf('#inside:not([hidden])')).toContain(person.username)
    expect(textOf('#message')).toBe('You have to set up a second factor.')
    expect(visitor.document.querySelector('[hidden] #message')).toBeNull()
  })

  test('counts from then on, in place of a token that the tab was given', async () => {
    await visitor.visit('/-/settings')
    await visitor.type('#token', 'glpat-of-nobody')
    expect(visitor.text).toContain('Sign in as an administrator')
    await visitor.signIn(person.username, password)
    await visitor.visit('/-/settings')
    expect(visitor.text).toContain('Settings are for administrators.')
  })
})

describe('the API', () => {
  test('is listed in groups, and narrowed to the words that are searched', async () => {
    await visitor.visit('/-/api')
    const total = Number(/^\d+/.exec(textOf('#found')!)![0])
    expect(total).toBe(world.service.registry.routes.length)
    await visitor.type('#search', 'get user/status')
    const shown = [...visitor.document.querySelectorAll('details.endpoint')].filter(
      (one) => !one.hasAttribute('hidden'),
    )
    expect(shown.map(({ id }) => id)).toContain('getCurrentUserStatus')
    expect(shown.length).toBeLessThan(10)
    expect(textOf('#found')).toMatch(new RegExp(`^${shown.length} endpoints?$`))
  })

  test('an endpoint is called with the token of the tab, and shows the answer', async () => {
    await visitor.visit('/-/api#getUser')
    expect(visitor.document.querySelector('#getUser[open]')).not.toBeNull()
    expect(textOf('#getUser .facts')).toContain('needs')
    const result = '#getUser .result'
    await visitor.submit('#getUser form')
    expect(textOf(result)).toBe('id is needed')
    await visitor.type('#token', 'glpat-of-nobody')
    await visitor.type('#getUser-id', String(person.id))
    await visitor.submit('#getUser form')
    expect(textOf(`${result} .status`)).toBe('401 Unauthorized')
    await visitor.type('#token', rootToken)
    await visitor.submit('#getUser form')
    expect(textOf(`${result} .status`)).toBe('200 OK')
    expect(textOf(`${result} pre`)).toContain(`"username": "${person.username}"`)
  })

  test('what is filled in goes into query and body', async () => {
    await visitor.visit('/-/api#postProjects')
    await visitor.type('#token', rootToken)
    await visitor.type('#postProjects-name', 'made on the page')
    await visitor.type('#postProjects-topics', '["one", "two"]')
    await visitor.submit('#postProjects form')
    expect(textOf('#postProjects .result .status')).toBe('201 Created')
    await visitor.visit('/-/api#getProjects')
    await visitor.type('#getProjects-search', 'made on')
    await visitor.type('#getProjects-simple', 'true')
    await visitor.submit('#getProjects form')
    const [found] = JSON.parse(textOf('#getProjects .result pre')!) as Json[]
    expect([found!['name'], found!['topics']]).toEqual(['made on the page', ['one', 'two']])
    expect(found).not.toHaveProperty('wiki_enabled')
  })
})

describe('the settings', () => {
  const setting = (name: string) =>
    world.root.get('/application/settings').then(({ body }) => (body as Json)[name])
  const open = async (): Promise<void> => {
    await visitor.visit('/-/settings')
    await visitor.type('#token', rootToken)
  }
  const review = () => visitor.press('Review and save')

  test('are shown to administrators only', async () => {
    await visitor.visit('/-/settings')
    expect(visitor.text).toContain('Sign in as an administrator')
    await visitor.press('Sign in as an administrator')
    expect(visitor.address).toBe('/users/sign_in?return_to=%2F-%2Fsettings')
    await open()
    expect(textOf('#found')).toMatch(/^\d{3} settings$/)
  })

  test('are saved once it was seen what changes, and taken back', async () => {
    await during(world, { user_oauth_applications: true, max_attachment_size: 100 }, async () => {
      await open()
      await visitor.type('#setting-user_oauth_applications', false)
      await visitor.type('#setting-max_attachment_size', '77')
      expect(textOf('footer')).toContain('2 changes, not saved')
      await review()
      expect(textOf('dialog')).toMatch(/user_oauth_applications: true → false.*max_attachment_size: 100 → 77/)
      expect(await setting('max_attachment_size')).toBe(100)
      await visitor.press('Save')
      expect(textOf('footer')).toContain('Saved')
      expect([await setting('max_attachment_size'), await setting('user_oauth_applications')]).toEqual([
        77,
        false,
      ])

      await visitor.press('taken back')
      await expect.poll(() => textOf('#history li')).toContain('by Administrator')
      await visitor.press('Back to this', '#history li:nth-child(2)')
      await expect.poll(() => textOf('dialog')).toContain('Bring all settings back')
      await visitor.press('Bring back')
      expect([await setting('max_attachment_size'), await setting('user_oauth_applications')]).toEqual([
        100,
        true,
      ])
    })
  })

  test('say what the API refuses, beside the field', async () => {
    await open()
    await visitor.type('#setting-home_page_url', 'no address')
    await review()
    expect(textOf('dialog')).toContain('This is refused')
    expect(textOf('dialog [role=alert]')).toContain('home_page_url')
    expect(textOf('#setting-home_page_url-fault')).not.toBe('')
    expect(visitor.document.getElementById('setting-home_page_url')?.getAttribute('aria-invalid')).toBe(
      'true',
    )
    expect(await setting('home_page_url')).toBeNull()
  })

  test('that are secrets can be replaced and cleared, and never show', async () => {
    const stored = () => world.service.services.settings.values.spamfilter_api_key
    await during(world, { spamfilter_api_key: 'a first key' }, async () => {
      await open()
      const field = '#setting-spamfilter_api_key'
      expect(Reflect.get(visitor.document.querySelector(field)!, 'value')).toBe('')
      await visitor.type(field, 'a second key')
      await review()
      expect(textOf('dialog')).toContain('spamfilter_api_key: changed, and not shown')
      await visitor.press('Save')
      expect(stored()).toBe('a second key')
      await visitor.type(`.setting:has(${field}) [type=checkbox]`, true)
      await review()
      await visitor.press('Save')
      expect(stored()).toBeNull()
    })
  })

  test('let in who waits for approval when it is needed no more, if that is ticked', async () => {
    const name = 'require_admin_approval_after_user_signup'
    await during(world, { [name]: true }, async () => {
      const waiting = await world.user()
      await world.service.services.db.writer
        .updateTable('users')
        .set({ state: 'blocked_pending_approval' })
        .where('id', '=', waiting.id)
        .execute()
      const state = async () => ((await world.root.get(`/users/${waiting.id}`)).body as Json)['state']
      const turnOff = async (isTicked: boolean): Promise<unknown> => {
        expectStatus(await world.root.put('/application/settings', { [name]: true }), 200)
        await open()
        await visitor.type(`#setting-${name}`, false)
        await review()
        await visitor.type('dialog [type=checkbox]', isTicked)
        await visitor.press('Save')
        return state()
      }
      expect(await turnOff(false)).toBe('blocked_pending_approval')
      expect(await turnOff(true)).toBe('active')
    })
  })
})

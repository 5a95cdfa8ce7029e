import { afterAll, beforeAll, expect, test } from 'vitest'
import { Visitor } from '../world/browser.ts'
import { expectStatus, startWorld, type Made, type World } from '../world/world.ts'

/** The pages of what a project tells others: releases, its wiki, its environments. As everybody sees them. */
const hostile = '<img src=x onerror=alert(1)>'

let world: World
let project: Made
let base: string
let path: string
let visitor: Visitor

beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'public', initialize_with_readme: true })
  base = `/projects/${project.id}`
  path = `/${project.path_with_namespace}/-`
  visitor = new Visitor(world.url)
})
afterAll(async () => {
  await visitor[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const make = async (below: string, fields: object): Promise<void> => {
  expectStatus(await world.root.post(`${base}/${below}`, fields), 201)
}

test('releases show what they say and offer', async () => {
  const links = [{ name: 'The program', url: 'https://example.org/program' }]
  await make('releases', {
    tag_name: 'v1/first',
    ref: 'main',
    name: hostile,
    description: `All **new** ${hostile}`,
    assets: { links },
  })
  await visitor.visit(`${path}/releases`)
  await visitor.press(hostile)
  expect(visitor.address).toBe(`${path}/releases/v1%2Ffirst`)
  expect(visitor.document.querySelector('.prose strong')?.textContent).toBe('new')
  expect(visitor.document.querySelector('a[href="https://example.org/program"]')?.textContent).toBe(
    'The program',
  )
  expect(visitor.document.querySelector('a[href$="first.tar.gz"]')).not.toBeNull()
  expect(visitor.document.querySelectorAll('main [onerror]')).toHaveLength(0)
  const shown = expectStatus(await world.root.get(`${base}/releases/v1%2Ffirst`), 200)
  await visitor.visit(shown['tag_path'] as string)
  expect(visitor.document.querySelector('h1')?.textContent).toBe('v1/first')
  await visitor.visit(`${path}/releases/permalink/latest`)
  expect(visitor.text).toContain('All new')
})

test('a wiki shows its page to begin with, and leads to the others', async () => {
  await visitor.visit(`${path}/wikis`)
  expect(visitor.text).toContain('There are no pages yet.')
  await make('wikis', { title: 'a/first', content: `Some *words* ${hostile}` })
  await make('wikis', { title: 'home', content: 'Where to [[begin|a/first]]' })
  await visitor.visit(`${path}/wikis`)
  expect(visitor.document.querySelector('h1')?.textContent).toBe('home')
  await visitor.press('begin')
  expect(visitor.address).toBe(`${path}/wikis/a/first`)
  expect(visitor.document.querySelector('.prose em')?.textContent).toBe('words')
  expect(visitor.document.querySelectorAll('main [onerror]')).toHaveLength(0)
  await visitor.visit(`${path}/wikis/missing`)
  expect(visitor.text).toContain('Nothing is at this address, or nothing that you may see.')
})

test('groups have wikis, too', async () => {
  const group = await world.group({ visibility: 'public' })
  expectStatus(
    await world.root.post(`/groups/${group.id}/wikis`, { title: 'home', content: 'Of **all**' }),
    201,
  )
  await visitor.visit(`/groups/${group.full_path}`)
  await visitor.press('Wiki')
  expect(visitor.document.querySelector('.prose strong')?.textContent).toBe('all')
})

test('environments are listed by their state', async () => {
  await make('environments', { name: 'production', external_url: 'https://example.org' })
  await visitor.visit(`${path}/environments`)
  expect(visitor.text).toContain('production')
  expect(visitor.document.querySelector('.rows a')?.getAttribute('href')).toBe('https://example.org')
  await visitor.press('Stopped')
  expect(visitor.text).not.toContain('production')
})

test('strangers of a private project see the same as where nothing is', async () => {
  const closed = await world.project({ visibility: 'private' })
  const seen = async (address: string): Promise<string> => {
    await visitor.visit(address)
    return visitor.text
  }
  const nothing = await seen('/nothing/here/-/releases')
  for (const below of ['releases', 'releases/v1', 'wikis', 'wikis/home', 'environments']) {
    expect(await seen(`/${closed.path_with_namespace}/-/${below}`)).toBe(nothing)
  }
})

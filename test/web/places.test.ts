import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import { Visitor } from '../world/browser.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Made, type World } from '../world/world.ts'

/** The pages at the addresses that answers name, read as their visitors read them. */
const password = 'correct horse battery staple'
const html = { accept: 'text/html' }

let world: World
let projects: CiProjects
let ci: CiProject
let path: string
let member: Person
let insider: Visitor
let stranger: Visitor

beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
  ci = await projects.make({ build: { script: ['make'] } })
  path = (ci.project as Made)['path_with_namespace']
  await ci.push({
    'README.md': '# Read me\n\nSome *words* and <script>alert(1)</script>\n',
    'src/deep/main.ts': 'const answer = 42\nexport { answer }\n',
    'src/wide.txt': '<b>no markup</b>\n',
  })
  member = await world.user({ force_random_password: undefined, password })
  await world.root.post(`/projects/${ci.project.id}/members`, { user_id: member.id, access_level: 40 })
  insider = new Visitor(world.url)
  stranger = new Visitor(world.url)
  await insider.signIn(member.username, password)
})
afterAll(async () => {
  await insider[Symbol.asyncDispose]()
  await stranger[Symbol.asyncDispose]()
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

describe('who gets a page', () => {
  const look = (address: string, headers: Record<string, string>): Promise<Response> =>
    fetch(world.url + address, { headers, redirect: 'manual' })

  test('browsers do, programs do not, and it says nothing of what is there', async () => {
    const page = await look(`/${path}`, html)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const nothing = await look('/nothing/here', html)
    const named = (text: string, name: string): string => text.replaceAll(name, '')
    expect(named(await nothing.text(), 'nothing/here')).toBe(named(await page.text(), path))
    for (const headers of [{}, { accept: 'application/json' }]) {
      const answer = await look(`/${path}`, headers)
      expect([answer.status, await answer.json()]).toEqual([404, { error: '404 Not Found' }])
    }
  })

  test.each(['/-/nothing', '/api/nothing', '/admin/users', '/users/nobody', '/a/b/-/nothing', '/a/%ZZ'])(
    '%s is none',
    async (address) => {
      const { status, headers } = await look(address, html)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(headers.get('content-type')).not.toContain('html')
    },
  )

  test('scripts are kept for good, under an address of their version', async () => {
    const text = await (await look(`/${path}`, html)).text()
    const [, script] = /<script type="module" src="\.\.(\/-\/scripts\/[^"]+)"/.exec(text)!
    const answer = await look(script!, {})
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect((await look(script!.replace(/scripts\/[^/]+/, 'scripts/other'), {})).status).toBe(404)
  })
})

test('a project shows its files, and its README as readers see it', async () => {
  await insider.visit(`/${path}`)
  const { document, text } = insider
  expect(document.querySelector('.prose h1')?.textContent.trim()).toBe('Read me')
  expect(document.querySelector('.prose em')?.textContent).toBe('words')
  expect(document.querySelector('main script')).toBeNull()
  expect(text).toContain('src')
  const [http] = document.querySelectorAll('.clone input')
  expect(Reflect.get(http!, 'value')).toBe(`${world.url}/${path}.git`)
})

test('folders lead to files, whose lines have numbers', async () => {
  await insider.visit(`/${path}/-/tree/main/src`)
  await insider.press('wide.txt')
  expect(insider.address).toBe(`/${path}/-/blob/main/src/wide.txt`)
  expect(insider.document.querySelector('.code pre')?.textContent).toContain('<b>no markup</b>')
  await insider.visit(`/${path}/-/blob/main/src/deep/main.ts`)
  expect(insider.document.querySelector('.hljs-keyword')?.textContent).toBe('const')
  expect(insider.document.getElementById('L2')?.textContent).toBe('2')
})

test('a branch with slashes is told from the path below it', async () => {
  await ci.push({ 'a/b.txt': 'on a branch\n' }, { to: 'some/branch' })
  await insider.visit(`/${path}/-/blob/some/branch/a/b.txt`)
  expect(insider.text).toContain('on a branch')
  await insider.visit(`/${path}/-/branches`)
  expect(insider.text).toContain('some/branch')
})

test('commits lead to what they changed', async () => {
  await ci.push({ 'changed.txt': 'one\n' })
  await insider.visit(`/${path}/-/commits`)
  const first = insider.document.querySelector('.commit-line .subject')!
  await insider.press(first.textContent)
  expect(insider.address).toMatch(/\/-\/commit\/[0-9a-f]{40}$/)
  expect(insider.document.querySelector('.diff .added .text')?.textContent).toBe('one')
})

test('a pipeline leads to its jobs, whose logs are coloured and no markup; and runs again', async () => {
  const { ci: other, job, pipeline } = await projects.running({ build: { script: ['make'] } })
  await world.root.post(`/projects/${other.id}/members`, { user_id: member.id, access_level: 40 })
  const place = (other.project as Made)['path_with_namespace']
  await job.say('\u001B[32mgreen\u001B[0m <b>plain</b>\nunseen\rseen\n')
  await job.end('failed')
  await insider.visit(`/${place}/-/pipelines`)
  expect(insider.text).toContain(`#${pipeline['id']}`)
  await insider.visit(`/${place}/-/pipelines/${pipeline['id']}`)
  await insider.press('build')
  const log = insider.document.querySelector('.log')!
  expect(log.querySelector('.ansi-green-fg')?.textContent).toBe('green')
  expect(log.textContent).toContain('<b>plain</b>')
  expect([log.textContent.includes('unseen'), log.textContent.includes('seen')]).toEqual([false, true])
  await insider.press('Run it again')
  expect(insider.address).toMatch(/\/-\/jobs\/\d+$/)
  expect(insider.address).not.toContain(`/${job.id}`)
})

test('who may not see it is told that nothing is there, and where to sign in', async () => {
  for (const address of [`/${path}`, `/${path}/-/pipelines`, '/nothing/here', '/groups/nothing']) {
    await stranger.visit(address)
    expect(stranger.text).toContain('Nothing is at this address, or nothing that you may see.')
    expect(stranger.text).not.toContain('README')
  }
})

test('people and groups lead to their projects', async () => {
  await insider.visit(`/${member.username}`)
  expect(insider.text).toContain(`@${member.username}`)
  const group = await world.group({ visibility: 'public', description: 'Of *all* kinds' })
  await insider.visit(`/${group['path']}`)
  await expect.poll(() => insider.address).toBe(`/groups/${group['path']}`)
  await expect.poll(() => insider.text).toContain('Of all kinds')
  await insider.visit('/dashboard/projects')
  expect(insider.text).toContain((ci.project as Made)['name_with_namespace'])
})

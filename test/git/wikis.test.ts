// @module-tag long
import { access, mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'

let world: World
let copies: Copies
let project: Made
let group: Made
let developer: Person
let guest: Person

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  group = await world.group()
  project = await world.project({ namespace_id: group.id })
  developer = await world.member({ group }, 'developer')
  guest = await world.member({ group }, 'guest')
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const wikis = () =>
  [
    [`/projects/${project.id}`, `${project.path_with_namespace}.wiki`],
    [`/groups/${group.id}`, `${group.full_path}.wiki`],
  ] as const

describe.each([0, 1])('the wiki of a project, of a group', (which) => {
  const place = () => wikis()[which]![0]
  const url = (login?: Person) => copies.url(wikis()[which]![1], login)

  test('is cloned empty, filled, and read at once', async () => {
    const folder = await copies.clone({ path_with_namespace: wikis()[which]![1] }, developer)
    await git(folder, 'checkout', '--quiet', '-B', 'main')
    const head = await copies.commit(folder, {
      'home.md': '# Home\n',
      'docs/Set up.org': '* One\n',
      'old.textile': 'h1. Old\n',
      'image.png': Buffer.from([1, 2, 3]),
      'latin.md': Buffer.from([0x63, 0x61, 0x66, 0xe9]),
    })
    await git(folder, 'push', '--quiet', 'origin', 'main')
    const list = await developer.get(`${place()}/wikis`)
    expect(list.body).toEqual([
      { format: 'org', slug: 'docs/Set-up', title: 'docs/Set up' },
      { format: 'markdown', slug: 'home', title: 'home' },
      { format: 'markdown', slug: 'latin', title: 'latin' },
      { format: 'textile', slug: 'old', title: 'old' },
    ])
    expect((await developer.get(`${place()}/wikis/docs%2FSet-up`)).body).toMatchObject({ content: '* One\n' })
    expect((await developer.get(`${place()}/wikis/latin`)).body).toMatchObject({
      encoding: 'ASCII-8BIT',
      content: 'caf\ufffd',
      last_version: { id: head },
    })
    expectStatus(await developer.put(`${place()}/wikis/home`, { content: '# New\n' }), 200)
    await git(folder, 'pull', '--quiet', 'origin', 'main')
    expect(await git(folder, 'show', 'HEAD:home.md')).toBe('# New')
    expect(await git(folder, 'log', '-1', '--format=%an %s')).toBe(
      `Name of ${developer.username} ${developer.username} updated page: home`,
    )
    expect(await git(folder, 'fsck', '--strict')).toBe('')
  })

  test('shows bytes that are no UTF-8, in every language', async () => {
    const folder = await copies.clone({ path_with_namespace: wikis()[which]![1] }, developer)
    const bytes = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0x00, 0xff, 0xfe, 0xc0, 0x80])
    const extensions = ['md', 'asciidoc', 'org', 'rdoc', 'txt']
    await copies.commit(folder, Object.fromEntries(extensions.map((one) => [`bytes-${one}.${one}`, bytes])))
    await git(folder, 'push', '--quiet', 'origin', 'main')
    for (const one of extensions) {
      const address = `${place()}/wikis/bytes-${one}`
      expect((await developer.get(address)).body).toMatchObject({ encoding: 'ASCII-8BIT' })
      expect(expectStatus(await developer.get(`${address}?render_html=true`), 200)['content']).toContain(
        'caf\ufffd',
      )
    }
  })

  test('has the same doors as the API', async () => {
    const folder = await copies.clone({ path_with_namespace: wikis()[which]![1] }, guest)
    await copies.commit(folder, { 'guest.md': 'x' })
    const refused = await copies.try(folder, ['push', 'origin', 'main'])
    expect(refused.stderr).toContain("You are not allowed to write to this project's wiki.")
    const stranger = await world.user()
    const hidden = await copies.try(copies.folder, ['ls-remote', url(stranger)])
    expect(hidden.stderr).toContain('The wiki you were looking for could not be found.')
    const missing = wikis()[which]![1].replace(/\.wiki$/, '-no.wiki')
    const nowhere = await copies.try(copies.folder, ['ls-remote', copies.url(missing, stranger)])
    expect(nowhere.stderr.replaceAll('-no.wiki', '.wiki')).toBe(hidden.stderr)
    const nobody = await copies.try(copies.folder, ['ls-remote', url()])
    expect(nobody.code).not.toBe(0)
  })

  test('takes symbolic links for no pages', async () => {
    const folder = await copies.clone({ path_with_namespace: wikis()[which]![1] }, developer)
    await symlink('/etc/passwd', path.join(folder, 'evil.md'))
    await symlink('../../../../etc', path.join(folder, 'etc'))
    await mkdir(path.join(folder, 'deep'))
    await writeFile(path.join(folder, 'deep/real.md'), 'real')
    await git(folder, 'add', '-A')
    await git(folder, 'commit', '--quiet', '-m', 'Links')
    await git(folder, 'push', '--quiet', 'origin', 'main')
    for (const slug of ['evil', 'etc%2Fpasswd', 'etc']) {
      expect((await developer.get(`${place()}/wikis/${slug}`)).status).toBe(404)
      expect((await developer.get(`${place()}/wiki_attachments/${slug}.md`)).status).toBe(404)
    }
    const list = await developer.get(`${place()}/wikis`)
    expect(list.text).not.toContain('evil')
    expect(list.text).toContain('deep/real')
    expect((await developer.post(`${place()}/wikis`, { title: 'evil', content: 'x' })).status).toBe(422)
    expect((await developer.post(`${place()}/wikis`, { title: 'etc/x', content: 'x' })).status).toBe(422)
  })

  test('loses nothing when pushes and edits meet', { timeout: 60_000 }, async () => {
    const edits = Array.from({ length: 10 }, (_, index) =>
      developer.post(`${place()}/wikis`, { title: `met/${index}`, content: 'x' }),
    )
    const pushing = (async () => {
      for (let attempt = 0; attempt < 30; attempt += 1) {
        const folder = await copies.clone({ path_with_namespace: wikis()[which]![1] }, developer)
        await copies.commit(folder, { 'met/pushed.md': 'x' })
        if ((await copies.try(folder, ['push', 'origin', 'main'])).code === 0) return
      }
      throw new Error('the push never went through')
    })()
    const replies = await Promise.all(edits)
    await pushing
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201))
    const list = await developer.get(`${place()}/wikis?per_page=100`)
    const met = (list.body as { slug: string }[]).filter(({ slug }) => slug.startsWith('met/'))
    expect(met).toHaveLength(11)
  })
})

test('no wiki, no address', async () => {
  const other = await world.project({ visibility: 'public' })
  const told = await copies.try(copies.folder, ['ls-remote', copies.url(`${other.path_with_namespace}.wiki`)])
  expect(told.code).not.toBe(0)
  const reader = await world.user()
  const absent = await copies.try(copies.folder, [
    'ls-remote',
    copies.url(`${other.path_with_namespace}.wiki`, reader),
  ])
  expect(absent.stderr).toContain('A repository for this wiki does not exist yet.')
})

test('a wiki goes with its project', async () => {
  const doomed = await world.project({ namespace_id: group.id })
  expectStatus(await developer.post(`/projects/${doomed.id}/wikis`, { title: 'x', content: 'x' }), 201)
  const { db } = world.service.services
  const wiki = await db.reader
    .selectFrom('wikis as w')
    .select(['w.id', 'w.storage'])
    .where('w.project_id', '=', doomed.id)
    .executeTakeFirstOrThrow()
  const folder = world.service.services.places.of({ id: `wiki-${wiki.id}`, storage: wiki.storage }).path
  await access(folder)
  await world.end({ project: doomed })
  await expect
    .poll(
      () =>
        access(folder).then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(false)
})

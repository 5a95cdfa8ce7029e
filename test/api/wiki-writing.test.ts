// @module-tag long
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { during } from '../settings/effects.ts'
import type { Person, Reply } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let writer: Person

beforeAll(async () => {
  world = await startWorld()
  writer = await world.user()
})
afterAll(() => world[Symbol.asyncDispose]())

async function project(fields: Json = {}): Promise<Made> {
  const { id } = await world.group(fields, writer)
  return world.project({ namespace_id: id, ...fields }, writer)
}

const create = async (place: string, fields: Json, by: Person = writer): Promise<Json> =>
  expectStatus(await by.post(`${place}/wikis`, fields), 201)
const refusal = ({ status, body }: Reply) => ({ status, ...(body as object) })

describe('attachments', () => {
  let place: string
  beforeAll(async () => {
    place = `/projects/${(await project({ visibility: 'public' })).id}`
  })
  const form = (name: string, content: Uint8Array | string, fields: Json = {}): FormData => {
    const data = new FormData()
    for (const [key, value] of Object.entries(fields)) data.append(key, value as string)
    data.append('file', new Blob([content as string]), name)
    return data
  }
  const upload = (data: FormData) => writer.post(`${place}/wikis/attachments`, data)

  test('are stored in the repository, below uploads', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000))
    const made = expectStatus(await upload(form('a plan [1].png', bytes)), 201)
    const path = made['file_path'] as string
    expect(path).toMatch(/^uploads\/[0-9a-f]{32}\/a plan \[1\]\.png$/)
    expect(made).toEqual({
      file_name: 'a plan [1].png',
      file_path: path,
      branch: 'main',
      link: { url: path, markdown: `![a plan \\[1\\]](${path.replace('a plan [1]', 'a%20plan%20%5B1%5D')})` },
    })
    const stored = await fetch(`${world.url}/api/v4${place}/wiki_attachments/${encodeURIComponent(path)}`)
    expect(stored.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true)
    const note = expectStatus(await upload(form('notes.md', '# no page')), 201)
    expect(note['link']).toEqual({
      url: note['file_path'],
      markdown: `[notes.md](${note['file_path'] as string})`,
    })
    expect((await writer.get(`${place}/wikis`)).body).toEqual([])
  })

  test('never run in a browser', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    for (const name of ['x.svg', 'x.html', 'x.xhtml', 'x.js', 'x']) {
      const made = expectStatus(await upload(form(name, svg)), 201)
      const address = `${world.url}/api/v4${place}/wiki_attachments/${made['file_path'] as string}`
      const { headers } = await fetch(address)
      expect(headers.get('content-disposition')).toMatch(/^attachment/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      )
      expect(['image/svg+xml', 'application/octet-stream']).toContain(headers.get('content-type'))
    }
  })

  test('have names that a file system takes', async () => {
    const named = async (name: string) =>
      (expectStatus(await upload(form(name, 'x')), 201) as { file_name: string }).file_name
    expect(await named(String.raw`C:\Users\me\plan.txt`)).toBe('plan.txt')
    expect(await named('../../etc/passwd')).toBe('passwd')
    const long = await named(`${'ü'.repeat(200)}.tar.gz`)
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(255)
    expect(long).toMatch(/^ü+\.gz$/)
    expect(refusal(await upload(form(' ', 'x')))).toEqual({
      status: 400,
      message: 'The file name cannot be empty',
    })
    expect((await upload(form('.git', 'x'))).status).toBe(400)
  })

  test('are refused in the words of the specification', async () => {
    const post = async (body: unknown) => refusal(await writer.post(`${place}/wikis/attachments`, body))
    expect(await post({})).toEqual({ status: 400, error: 'file is missing' })
    expect(await post({ file: 'just text' })).toEqual({ status: 400, error: 'file is invalid' })
    const empty = new FormData()
    empty.append('branch', 'main')
    expect(await post(empty)).toEqual({ status: 400, error: 'file is missing' })
    const text = new FormData()
    text.append('file', 'just text')
    expect(await post(text)).toEqual({ status: 400, error: 'file is invalid' })
    expect((await upload(form('x.txt', 'x', { branch: 'nowhere' }))).status).toBe(400)
    expect((await upload(form('x.txt', 'x', { branch: '--upload-pack=x' }))).status).toBe(400)
    expect((await upload(form('x.txt', 'x', { branch: 'main' }))).status).toBe(201)
  })

  test('are limited in size', async () => {
    await during(world, { max_attachment_size: 1 }, async () => {
      expect((await upload(form('x.bin', new Uint8Array(1024 * 1024)))).status).toBe(201)
      const reply = await upload(form('x.bin', new Uint8Array(1024 * 1024 + 1)))
      expect(refusal(reply)).toEqual({ status: 413, message: '413 Request Entity Too Large' })
    })
    expect((await upload(form('x.bin', new Uint8Array(1024 * 1024 + 1)))).status).toBe(201)
  })
})

describe('many editors at once', () => {
  const editors = 50

  test('on one page: every acknowledged version is in its history', { timeout: 120_000 }, async () => {
    const place = `/projects/${(await project()).id}`
    await create(place, { title: 'busy', content: 'start' })
    const texts = Array.from({ length: editors }, (_, index) => `text ${index}`)
    const replies = await Promise.all(texts.map((content) => writer.put(`${place}/wikis/busy`, { content })))
    expect(replies.map(({ status }) => status)).toEqual(texts.map(() => 200))
    const versions = await history(place, 'busy')
    const contents = await Promise.all(
      versions.map(async (id) => {
        const page = await writer.get(`${place}/wikis/busy?version=${id}`)
        return (page.body as { content: string }).content
      }),
    )
    expect(contents.toSorted()).toEqual([...texts, 'start'].toSorted())
  })

  test('on pages of their own', { timeout: 120_000 }, async () => {
    const made = await project()
    const place = `/projects/${made.id}`
    const titles = Array.from({ length: editors }, (_, index) => `page-${index}`)
    const wiki = { path_with_namespace: `${made.path_with_namespace}.wiki` }
    await pushFiles(world, wiki, Object.fromEntries(titles.map((title) => [`${title}.md`, `of ${title}`])))
    const replies = await Promise.all(
      titles.map((title) => writer.put(`${place}/wikis/${title}`, { content: `new ${title}` })),
    )
    expect(replies.map(({ status }) => status)).toEqual(titles.map(() => 200))
    const list = await writer.get(`${place}/wikis?with_content=true&per_page=100`)
    expect((list.body as Json[]).map(({ content }) => content as string)).toEqual(
      titles.toSorted().map((title) => `new ${title}`),
    )
    expect(await history(place, titles[17]!)).toHaveLength(2)
  })

  test('creating one title: one has it, the others are told', async () => {
    const place = `/projects/${(await project()).id}`
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => writer.post(`${place}/wikis`, { title: 'mine', content: 'x' })),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(9).fill(400)])
  })

  async function history(place: string, title: string): Promise<string[]> {
    const reply = await writer.get(`${place}/wiki_versions/${encodeURIComponent(title)}?per_page=100`)
    return (reply.body as { id: string }[]).map(({ id }) => id)
  }
})

describe('statistics', () => {
  test('tell what the wiki and the rest of a project take, to Reporters and above', async () => {
    const made = await project({ visibility: 'public' })
    const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(20_000))).toString('base64')
    await create(`/projects/${made.id}`, { title: 'large', content: bytes })
    await pushFiles(world, made, { a: bytes.slice(0, 5000) })
    const reporter = await world.member({ project: made }, 'reporter')
    const guest = await world.member({ project: made }, 'guest')
    const read = async (by: Person) =>
      expectStatus(await by.get(`/projects/${made.id}?statistics=true`), 200)['statistics'] as
        Record<string, number> | undefined
    await expect
      .poll(
        async () => {
          const found = (await read(reporter))!
          return (
            found['wiki_size']! > 15_000 && found['repository_size']! > 3000 && found['commit_count'] === 1
          )
        },
        { timeout: 20_000, interval: 20 },
      )
      .toBe(true)
    const found = (await read(reporter))!
    expect(found['storage_size']).toBe(found['wiki_size']! + found['repository_size']!)
    expect(await read(guest)).toBeUndefined()
    expect(expectStatus(await reporter.get(`/projects/${made.id}`), 200)).not.toHaveProperty('statistics')
    const listed = (await reporter.get('/projects?statistics=true&membership=true')).body as Json[]
    expect(listed[0]!['statistics']).toEqual(found)
  })
})

test('after enough edits the packs of a wiki are put together', async () => {
  const place = `/projects/${(await project()).id}`
  await create(place, { title: 'often', content: 'start' })
  for (let count = 0; count < 6; count += 1)
    expectStatus(await writer.put(`${place}/wikis/often`, { content: `text ${count}` }), 200)
  const { db, places: repositories } = world.service.services
  const { id, storage } = await db.reader
    .selectFrom('wikis as w')
    .select(['w.id', 'w.storage'])
    .orderBy('w.id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const objects = path.join(repositories.of({ id: `wiki-${id}`, storage }).path, 'objects')
  /** Packs and folders of loose objects. */
  const pieces = async () => {
    const packs = (await readdir(path.join(objects, 'pack')).catch(() => [])).filter((name) =>
      name.endsWith('.pack'),
    )
    return packs.length + (await readdir(objects)).filter((name) => name.length === 2).length
  }
  expect(await pieces()).toBeGreaterThan(2)
  await during(world, { housekeeping_optimize_repository_period: 5 }, async () => {
    await enqueue(db.writer, 'wikis:optimise', {})
    await expect.poll(pieces, { timeout: 20_000, interval: 20 }).toBeLessThanOrEqual(2)
  })
  expect((await writer.get(`${place}/wiki_versions/often`)).body).toHaveLength(7)
})

describe('news', () => {
  test('of pages are written once each, with the id that the page keeps', async () => {
    const { id } = await project()
    const place = `/projects/${id}`
    await create(place, { title: 'told', content: 'one' })
    expectStatus(await writer.put(`${place}/wikis/told`, { content: 'two' }), 200)
    expectStatus(await writer.put(`${place}/wikis/told`, { title: 'renamed' }), 200)
    expectStatus(await writer.delete(`${place}/wikis/renamed`), 204)
    const { db } = world.service.services
    await expect
      .poll(
        async () => {
          const rows = await db.reader
            .selectFrom('events as e')
            .select(['e.payload', 'e.user_id'])
            .where('e.kind', '=', 'wiki_page')
            .where('e.project_id', '=', id)
            .execute()
          const told: Json[] = rows.map(({ payload, user_id }) => ({ ...(payload as Json), user_id }))
          return told
            .toSorted((a, b) => (a['message'] as string).localeCompare(b['message'] as string))
            .map(({ action, slug, oldSlug, user_id }) => [action, slug, oldSlug, user_id] as unknown)
        },
        { timeout: 20_000 },
      )
      .toEqual(
        expect.arrayContaining([
          ['create', 'told', undefined, writer.id],
          ['update', 'told', undefined, writer.id],
          ['update', 'renamed', 'told', writer.id],
          ['delete', 'renamed', undefined, writer.id],
        ]),
      )
  })
})

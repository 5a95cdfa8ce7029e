import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

/** Both kinds of places behave alike: each suite runs in both. */
const places = [
  ['a project', async () => `/projects/${(await project()).id}`],
  ['a group', async () => `/groups/${(await world.group({}, writer)).id}`],
] as const

const create = async (place: string, fields: Json, by: Person = writer): Promise<Json> =>
  expectStatus(await by.post(`${place}/wikis`, fields), 201)
const refusal = ({ status, body }: Reply) => ({ status, ...(body as object) })

describe.each(places)('the wiki of %s', (_, make) => {
  let place: string
  beforeAll(async () => {
    place = await make()
  })

  test('is empty at first', async () => {
    const reply = await writer.get(`${place}/wikis`)
    expect(reply.body).toEqual([])
    expect(reply.headers.get('x-total')).toBe('0')
    expect(refusal(await writer.get(`${place}/wikis/home`))).toEqual({
      status: 404,
      message: '404 Wiki Page Not Found',
    })
    expect((await writer.delete(`${place}/wikis/home`)).status).toBe(404)
    expect((await writer.put(`${place}/wikis/home`, { content: 'x' })).status).toBe(404)
  })

  test('creates, shows, changes and deletes a page', async () => {
    const made = await create(place, { title: 'docs/Release  guide', content: '# Steps\n' })
    expect(made).toEqual({
      format: 'markdown',
      slug: 'docs/Release-guide',
      title: 'docs/Release guide',
      content: '# Steps\n',
      encoding: 'UTF-8',
      front_matter: {},
    })
    // With its slash encoded or as it is, with its blank or its hyphen.
    for (const slug of ['docs%2FRelease-guide', 'docs/Release-guide', 'docs%2FRelease%20guide']) {
      const page = expectStatus(await writer.get(`${place}/wikis/${slug}`), 200)
      expect(page).toMatchObject(made)
      expect(page['last_version']).toMatchObject({
        author_email: `${writer.username}@example.com`,
        message: `${writer.username} created page: docs/Release guide`,
      })
    }
    const changed = await writer.put(`${place}/wikis/docs%2FRelease-guide`, { content: '# Fewer steps\n' })
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({ ...made, content: '# Fewer steps\n' })
    const gone = await writer.delete(`${place}/wikis/docs%2FRelease-guide`)
    expect(gone.status).toBe(204)
    expect(gone.text).toBe('')
    expect((await writer.get(`${place}/wikis/docs%2FRelease-guide`)).status).toBe(404)
    expect((await writer.get(`${place}/wikis`)).body).toEqual([])
  })

  test('lists by slug, with and without content, in pages', async () => {
    for (const title of ['b', 'a/z', 'Ä', 'C', 'a']) await create(place, { title, content: `of ${title}` })
    const all = await writer.get(`${place}/wikis`)
    expect((all.body as Json[]).map(({ slug }) => slug as string)).toEqual(['C', 'a', 'a/z', 'b', 'Ä'])
    expect((all.body as Json[])[0]).toEqual({ format: 'markdown', slug: 'C', title: 'C' })
    const second = await writer.get(`${place}/wikis?with_content=true&per_page=2&page=2`)
    expect(second.body).toEqual([
      {
        format: 'markdown',
        slug: 'a/z',
        title: 'a/z',
        content: 'of a/z',
        encoding: 'UTF-8',
        front_matter: {},
      },
      { format: 'markdown', slug: 'b', title: 'b', content: 'of b', encoding: 'UTF-8', front_matter: {} },
    ])
    expect(second.headers.get('x-total')).toBe('5')
    expect(second.headers.get('x-next-page')).toBe('3')
  })

  test('keeps the format unless another is chosen, and moves as titles say', async () => {
    const made = await create(place, { title: 'moves/plan', content: '* one', format: 'asciidoc' })
    expect(made).toMatchObject({ format: 'asciidoc', slug: 'moves/plan' })
    const put = async (slug: string, fields: Json) =>
      expectStatus(await writer.put(`${place}/wikis/${encodeURIComponent(slug)}`, fields), 200)
    expect(await put('moves/plan', { content: '* two' })).toMatchObject({ format: 'asciidoc' })
    expect(await put('moves/plan', { title: 'new plan' })).toMatchObject({
      slug: 'moves/new-plan',
      title: 'moves/new plan',
      content: '* two',
      format: 'asciidoc',
    })
    expect((await writer.get(`${place}/wikis/moves%2Fplan`)).status).toBe(404)
    expect(await put('moves/new-plan', { title: '/top plan' })).toMatchObject({ slug: 'top-plan' })
    expect(await put('top-plan', { title: 'other/place', format: 'org' })).toMatchObject({
      slug: 'other/place',
      format: 'org',
    })
    expect(await put('other/place', { format: 'rdoc' })).toMatchObject({
      slug: 'other/place',
      format: 'rdoc',
    })
    // The old addresses lead on.
    const redirects = await writer.get(`${place}/wiki_attachments/.gitlab%2Fredirects.yml`)
    expect(redirects.text).toBe(
      '"moves/plan": "other/place"\n"moves/new-plan": "other/place"\n"top-plan": "other/place"\n',
    )
    await create(place, { title: 'in the way', content: '' })
    expect(refusal(await writer.put(`${place}/wikis/other%2Fplace`, { title: '/In the way' }))).toEqual({
      status: 400,
      message: { base: ['There is already a page with the same title in that path.'] },
    })
  })

  test('refuses in the words of the specification', async () => {
    await create(place, { title: 'kept', content: 'kept' })
    const post = async (fields: Json) => refusal(await writer.post(`${place}/wikis`, fields))
    const put = async (fields: Json) => refusal(await writer.put(`${place}/wikis/kept`, fields))
    expect(await post({ content: 'x' })).toEqual({ status: 400, error: 'title is missing' })
    expect(await post({ title: 'x' })).toEqual({ status: 400, error: 'content is missing' })
    expect(await post({ title: 'x', content: 'x', format: 'textile' })).toEqual({
      status: 400,
      error: 'format does not have a valid value',
    })
    expect(await put({})).toEqual({
      status: 400,
      error: 'content, title, format are missing, at least one parameter must be provided',
    })
    const blank = { status: 400, message: { title: ["can't be blank"] } }
    for (const title of ['', '  ', '/', '..', './.']) {
      expect(await post({ title, content: 'x' })).toEqual(blank)
    }
    expect(await put({ title: ' ' })).toEqual(blank)
    const long = 'ü'.repeat(130)
    expect(await post({ title: long, content: '' })).toEqual({
      status: 400,
      message: { title: ['exceeds the limit of 245 bytes'] },
    })
    expect(await post({ title: `${long}/x`, content: '' })).toEqual({
      status: 400,
      message: { title: [`exceeds the limit of 255 bytes for directory name "${long}"`] },
    })
  })

  test('keeps every version, compares and restores them', async () => {
    await create(place, { title: 'story', content: 'one\n' })
    for (const content of ['one\ntwo\n', 'one\ntwo\nthree\n'])
      expectStatus(await writer.put(`${place}/wikis/story`, { content }), 200)
    expectStatus(await writer.put(`${place}/wikis/story`, { format: 'org' }), 200)
    const versions = (await writer.get(`${place}/wiki_versions/story`)).body as Json[]
    expect(versions.map(({ message }) => (message as string).split(' ')[1])).toEqual([
      'updated',
      'updated',
      'updated',
      'created',
    ])
    const [last, third, second, first] = versions.map(({ id }) => id as string) as [
      string,
      string,
      string,
      string,
    ]
    const old = await writer.get(`${place}/wikis/story?version=${first}`)
    expect(old.body).toMatchObject({ content: 'one\n', format: 'markdown' })
    const diff = await writer.get(`${place}/wiki_diffs/story?from=${first}&to=${second}`)
    expect(diff.body).toEqual({
      old_version: first,
      new_version: second,
      old_path: 'story.md',
      new_path: 'story.md',
      diff: '@@ -1 +1,2 @@\n one\n+two\n',
    })
    expect(expectStatus(await writer.get(`${place}/wiki_diffs/story?from=${third}`), 200)).toMatchObject({
      new_version: last,
      new_path: 'story.org',
      diff: '',
    })
    const restored = expectStatus(await writer.post(`${place}/wiki_versions/story`, { version: first }), 201)
    expect(restored).toMatchObject({ content: 'one\n', format: 'org' })
    expect((await writer.delete(`${place}/wikis/story`)).status).toBe(204)
    expectStatus(await writer.post(`${place}/wiki_versions/story`, { version: second }), 201)
    expect((await writer.get(`${place}/wikis/story`)).body).toMatchObject({ content: 'one\ntwo\n' })
    const missing = { status: 404, message: '404 Wiki Page Not Found' }
    for (const version of ['0'.repeat(40), 'main', 'HEAD~1', '../x', '-h'])
      expect(
        refusal(await writer.get(`${place}/wikis/story?version=${encodeURIComponent(version)}`)),
      ).toEqual(missing)
  })

  test('refuses an edit of what somebody changed meanwhile, if told what was seen', async () => {
    await create(place, { title: 'shared', content: 'one' })
    const seen = (await writer.get(`${place}/wikis/shared`)).body as { last_version: { id: string } }
    const version = seen.last_version.id
    await create(place, { title: 'another', content: '' })
    expectStatus(await writer.put(`${place}/wikis/shared`, { content: 'two', version }), 200)
    expect(refusal(await writer.put(`${place}/wikis/shared`, { content: 'three', version }))).toEqual({
      status: 409,
      message:
        'Someone edited the page the same time you did. Please check out the page and make sure your changes will not unintentionally remove theirs.',
    })
    expectStatus(await writer.put(`${place}/wikis/shared`, { content: 'three' }), 200)
  })

  test('finds text and titles', async () => {
    await create(place, { title: 'search/Needle', content: 'nothing here' })
    await create(place, { title: 'search/hay', content: 'first\nthe nEEdle [0-9]+ $(id)\nneedle again' })
    const find = async (text: string) =>
      (await writer.get(`${place}/wiki_blobs?search=${encodeURIComponent(text)}`)).body as Json[]
    expect((await find('needle')).map(({ path, startline }) => [path, startline] as unknown)).toEqual([
      ['search/Needle.md', 1],
      ['search/hay.md', 2],
    ])
    expect((await find('[0-9]+ $(id)'))[0]).toMatchObject({
      basename: 'search/hay',
      filename: 'search/hay.md',
      data: 'the nEEdle [0-9]+ $(id)',
    })
    expect(await find('--help')).toEqual([])
    expect(await find('.*')).toEqual([])
    expect((await writer.get(`${place}/wiki_blobs?search=`)).status).toBe(400)
  })
})

describe('pages, wherever they are', () => {
  let place: string
  beforeAll(async () => {
    place = `/projects/${(await project()).id}`
  })

  test('names pages by its rules', async () => {
    const slugs = [
      ['  a   wide   title ', 'a-wide-title'],
      ['../../up/./one', 'up/one'],
      ['/rooted', 'rooted'],
      ['Größe + Café <b>?', 'Größe-+-Café-<b>?'],
      ['日本語 ページ', '日本語-ページ'],
      ['v1.2.md', 'v1.2.md'],
      ['attachments', 'attachments'],
      ['.hidden', '.hidden'],
    ] as const
    for (const [title, slug] of slugs) {
      const made = await create(place, { title, content: '' })
      expect(made).toMatchObject({ slug, title: slug.replaceAll('-', ' '), content: '' })
      expect((await writer.get(`${place}/wikis/${encodeURIComponent(slug)}`)).status).toBe(200)
    }
  })

  test('takes blanks and hyphens, and letters of both cases, for one page', async () => {
    await create(place, { title: 'one name', content: '' })
    const duplicate = {
      status: 400,
      message: { base: ['Duplicate page: A page with that title already exists'] },
    }
    for (const fields of [
      { title: 'one-name' },
      { title: 'ONE name' },
      { title: 'one name', format: 'org' },
    ]) {
      expect(refusal(await writer.post(`${place}/wikis`, { content: '', ...fields }))).toEqual(duplicate)
    }
  })

  test('writes a title into the front matter, and reads it', async () => {
    const made = await create(place, {
      title: 'titled',
      content: 'text',
      front_matter: { title: 'Shown: so' },
    })
    expect(made).toMatchObject({
      title: 'titled',
      front_matter: { title: 'Shown: so' },
      content: '---\ntitle: "Shown: so"\n---\ntext',
    })
    const changed = await writer.put(`${place}/wikis/titled`, {
      content: '---\ntags: [a, b]\n---\ntext',
      front_matter: { title: 'New' },
    })
    expect(changed.body).toMatchObject({ front_matter: { tags: ['a', 'b'], title: 'New' } })
    const bombs = ['---\n- list\n---\n', '---\na: &a [*a]\n---\n', '---\n: : :\n---\n', `---\nx\n`]
    for (const content of bombs) {
      const page = expectStatus(await writer.put(`${place}/wikis/titled`, { content }), 200)
      expect(page).toMatchObject({ content, front_matter: {} })
    }
  })

  test('limits content in bytes', async () => {
    const { settings } = world.service.services
    const before = settings.values.wiki_page_max_content_bytes
    await settings.change({ wiki_page_max_content_bytes: 1024 })
    try {
      const content = 'ü'.repeat(768)
      const tooLong = {
        status: 400,
        message: { content: ['is too long (1.5 KB). The maximum size is 1 KB.'] },
      }
      expect(refusal(await writer.post(`${place}/wikis`, { title: 'long', content }))).toEqual(tooLong)
      await create(place, { title: 'short', content: 'ü'.repeat(512) })
      expect(refusal(await writer.put(`${place}/wikis/short`, { content }))).toEqual(tooLong)
    } finally {
      await settings.change({ wiki_page_max_content_bytes: before })
    }
  })

  test('answers hostile titles with what they are', async () => {
    const titles = [
      '.git/config',
      'a/.GIT/hooks',
      '.git',
      'git~1',
      '.g\u200cit/x',
      'a\u0000b',
      'a\u0007b',
      '\ud800',
      'a\\..\\b',
      '--help',
      'x'.repeat(100_000),
      '%2e%2e/%2e%2e/etc/passwd',
      'a'.concat('/b'.repeat(3000)),
    ]
    for (const title of titles) {
      const reply = await writer.post(`${place}/wikis`, { title, content: 'x' })
      expect(reply.status, `${title.slice(0, 40)}: ${reply.text.slice(0, 100)}`).toBeLessThan(500)
      if (reply.status === 201) {
        const { slug } = reply.body as { slug: string }
        expect((await writer.get(`${place}/wikis/${encodeURIComponent(slug)}`)).status).toBe(200)
      }
      expect(
        (await writer.get(`${place}/wikis/${encodeURIComponent(title.toWellFormed().slice(0, 4000))}`))
          .status,
      ).toBeLessThan(500)
    }
    for (const slug of ['..%2f..%2fetc%2fpasswd', '%00', '%ff', '.git%2fconfig', 'a%0ab'])
      expect((await writer.get(`${place}/wikis/${slug}`)).status).toBeLessThan(500)
  })

  test('answers a page beyond the limit of bodies with 413', async () => {
    const reply = await writer.post(`${place}/wikis`, {
      title: 'huge',
      content: 'x'.repeat(52 * 1024 * 1024),
    })
    expect([400, 413]).toContain(reply.status)
  })

  test('follows a page through its names', async () => {
    await create(place, { title: 'names/first', content: 'one\n' })
    for (const [slug, fields] of [
      ['names/first', { content: 'one\ntwo\n' }],
      ['names/first', { title: 'second' }],
      ['names/second', { title: '/Third name' }],
      ['Third-name', { content: 'one\ntwo\nthree\n' }],
    ] as const)
      expectStatus(await writer.put(`${place}/wikis/${encodeURIComponent(slug)}`, fields), 200)
    // Another page has the name that this one had at first.
    await create(place, { title: 'names/first', content: 'another' })
    const versions = (await writer.get(`${place}/wiki_versions/Third-name`)).body as Json[]
    const ids = versions.map(({ id }) => id as string)
    expect(ids).toHaveLength(5)
    const pages = await Promise.all(
      [1, 2, 3].map((page) => writer.get(`${place}/wiki_versions/Third-name?per_page=2&page=${page}`)),
    )
    expect(pages.flatMap(({ body }) => (body as Json[]).map(({ id }) => id as string))).toEqual(ids)
    const first = ids.at(-1)!
    const diff = await writer.get(`${place}/wiki_diffs/Third-name?from=${first}`)
    expect(expectStatus(diff, 200)).toMatchObject({
      old_path: 'names/first.md',
      new_path: 'Third-name.md',
      diff: '@@ -1 +1,3 @@\n one\n+two\n+three\n',
    })
    const old = await writer.get(`${place}/wikis/Third-name?version=${first}`)
    expect(old.body).toMatchObject({ slug: 'names/first', content: 'one\n' })
    const restored = await writer.post(`${place}/wiki_versions/Third-name`, { version: first })
    expect(expectStatus(restored, 201)).toMatchObject({ slug: 'Third-name', content: 'one\n' })
    expect((await writer.get(`${place}/wiki_versions/names%2Ffirst`)).body).toHaveLength(4)
  })
})

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
    const { settings } = world.service.services
    await settings.change({ max_attachment_size: 1 })
    try {
      expect((await upload(form('x.bin', new Uint8Array(1024 * 1024)))).status).toBe(201)
      const reply = await upload(form('x.bin', new Uint8Array(1024 * 1024 + 1)))
      expect(refusal(reply)).toEqual({ status: 413, message: '413 Request Entity Too Large' })
    } finally {
      await settings.change({ max_attachment_size: 100 })
    }
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

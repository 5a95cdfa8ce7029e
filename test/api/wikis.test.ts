import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import type { Person, Reply } from '../world/client.ts'
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
      ['_sidebar', '_sidebar'],
      ['templates/One of them', 'templates/One-of-them'],
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
    const content = 'ü'.repeat(768)
    await during(world, { wiki_page_max_content_bytes: 1024 }, async () => {
      const tooLong = {
        status: 400,
        message: { content: ['is too long (1.5 KB). The maximum size is 1 KB.'] },
      }
      expect(refusal(await writer.post(`${place}/wikis`, { title: 'long', content }))).toEqual(tooLong)
      await create(place, { title: 'short', content: 'ü'.repeat(512) })
      expect(refusal(await writer.put(`${place}/wikis/short`, { content }))).toEqual(tooLong)
    })
    expectStatus(await writer.put(`${place}/wikis/short`, { content }), 200)
    // What is longer since a time when that was allowed may be moved, and saved as it is.
    await during(world, { wiki_page_max_content_bytes: 1024 }, async () => {
      const moved = await writer.put(`${place}/wikis/short`, { title: 'Moved', content })
      expect(expectStatus(moved, 200)).toMatchObject({ slug: 'Moved', content })
      expect((await writer.put(`${place}/wikis/Moved`, { content: `${content}ü` })).status).toBe(400)
    })
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

  test('says how long a page may be without a limit of its own', async () => {
    const content = 'x'.repeat(52 * 1024 * 1024)
    expect(refusal(await writer.post(`${place}/wikis`, { title: 'huge', content }))).toEqual({
      status: 400,
      message: { content: ['is too long (52 MB). The maximum size is 50 MB.'] },
    })
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

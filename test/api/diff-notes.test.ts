// @module-tag long
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { eventually } from '../world/merge-project.ts'
import { expectStatus, rootToken, startWorld, type Json, type Made, type World } from '../world/world.ts'

const run = promisify(execFile)

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

type Content = string | Buffer | null
type Files = Readonly<Record<string, Content>>
interface Refs {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
}

/** A merge request whose branches are pushed by git. */
class Request implements AsyncDisposable {
  readonly folder: string
  readonly project: Made
  readonly #url: string
  iid = 0

  private constructor(folder: string, project: Made, url: string) {
    this.folder = folder
    this.project = project
    this.#url = url
  }

  /** From `change`, where the files are those of `one`, into `main`, where they are those of `base`. */
  static async make(base: Files, one: Files, fields: Json = {}): Promise<Request> {
    const project = await world.project(fields)
    const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-diffs-'))
    const url = new URL(`${world.url}/${project.path_with_namespace}.git`)
    url.username = 'root'
    url.password = rootToken
    const made = new Request(folder, project, url.href)
    await made.git('init', '--quiet', '--initial-branch=main')
    await made.commit(base)
    await made.push('main')
    await made.git('checkout', '--quiet', '-b', 'change')
    await made.commit(one)
    await made.push('change')
    const request = { source_branch: 'change', target_branch: 'main', title: 'T' }
    made.iid = expectStatus(await world.root.post(`/projects/${project.id}/merge_requests`, request), 201)[
      'iid'
    ] as number
    return made
  }

  get at(): string {
    return `/projects/${this.project.id}/merge_requests/${this.iid}`
  }

  async git(...args: string[]): Promise<string> {
    const options = { env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' } }
    const names = ['-c', 'user.name=root', '-c', 'user.email=root@example.com']
    return (await run('git', [...names, '-C', this.folder, ...args], options)).stdout.trim()
  }

  async commit(files: Files): Promise<string> {
    for (const [name, content] of Object.entries(files)) {
      if (content === null) await rm(path.join(this.folder, name))
      else await writeFile(path.join(this.folder, name), content)
    }
    await this.git('add', '--all')
    await this.git('commit', '--quiet', '--allow-empty', '-m', 'Change')
    return this.git('rev-parse', 'HEAD')
  }

  push(branch: string): Promise<string> {
    return this.git('push', '--quiet', '--force', this.#url, `HEAD:refs/heads/${branch}`)
  }

  async refs(): Promise<Refs> {
    return bodyOf(await world.root.get(this.at))['diff_refs'] as Refs
  }

  /** Waits until the request has this head, and until every thread was looked at since. */
  async settled(head: string): Promise<Refs> {
    return eventually(async () => {
      const refs = await this.refs()
      if (refs.head_sha !== head) return undefined
      const left = await world.service.services.db.writer
        .selectFrom('discussions as d')
        .innerJoin('noteables as nb', 'nb.id', 'd.noteable_id')
        .innerJoin('merge_requests as m', 'm.id', 'nb.target_id')
        .select(['d.position', 'd.change_position'])
        .where('m.project_id', '=', this.project.id)
        .where('d.position', 'is not', null)
        .execute()
      const open = left.filter(
        ({ position, change_position }) =>
          change_position === null && (position as unknown as Refs).head_sha !== head,
      )
      return open.length === 0 ? refs : undefined
    })
  }

  async thread(place: Json, more: Json = {}): Promise<{ status: number; body: Json }> {
    const refs = await this.refs()
    const position = { position_type: 'text', ...refs, ...place }
    const { status, body } = await world.root.post(`${this.at}/discussions`, {
      body: 'text',
      position,
      ...more,
    })
    return { status, body: body as Json }
  }

  async discussion(id: string): Promise<Json> {
    return bodyOf(await world.root.get(`${this.at}/discussions/${id}`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}`)
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
const noLine = {
  message: `400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}`,
}
const incomplete = {
  message: `400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"], :position=>["is incomplete"]}`,
}
const codeOf = (file: string, counters: string): string =>
  `${createHash('sha1').update(file).digest('hex')}_${counters}`

describe('where a thread may stand', () => {
  const before = numbered(20)
  const after = [
    ...before.slice(0, 2),
    'new 3',
    ...before.slice(3, 10),
    'a',
    'b',
    ...before.slice(10, 17),
    ...before.slice(18),
  ]
  let request: Request
  beforeAll(async () => {
    const binary = Buffer.from([0, 1, 2, 10, 3])
    request = await Request.make(
      {
        'mod.txt': text(before),
        'gone.txt': 'x\ny\n',
        'old.txt': text(before),
        'run.sh': 'echo\n',
        'bin.dat': binary,
        'space.txt': 'a b\n',
        'end.txt': 'a\nb',
        'kept.txt': 'same\n',
      },
      {
        'mod.txt': text(after),
        'gone.txt': null,
        'old.txt': null,
        'new name.txt': text([...before.slice(0, 19), 'changed']),
        'fresh.txt': '1\n2\n',
        'bin.dat': Buffer.concat([binary, binary]),
        'pic.png': Buffer.from('89504e470d0a1a0a', 'hex'),
        'space.txt': 'a  b\n',
        'end.txt': 'a\nb\n',
      },
    )
    await chmod(path.join(request.folder, 'run.sh'), 0o755)
    const head = await request.commit({})
    await request.push('change')
    await request.settled(head)
  })
  afterAll(() => request[Symbol.asyncDispose]())

  const on = (file: string, old: number | null, now: number | null, oldFile = file): Json => ({
    old_path: oldFile,
    new_path: file,
    ...(old !== null && { old_line: old }),
    ...(now !== null && { new_line: now }),
  })

  test.for<[string, Json, string, string?]>([
    ['an added line in place of another', on('mod.txt', null, 3), '4_3'],
    ['a removed line', on('mod.txt', 3, null), '3_3'],
    ['an unchanged line before', on('mod.txt', 2, 2), '2_2'],
    ['an unchanged line after', on('mod.txt', 4, 4), '4_4'],
    ['an unchanged line between the hunks', on('mod.txt', 7, 7), '7_7'],
    ['the first of two added lines', on('mod.txt', null, 11), '11_11'],
    ['the second of two added lines', on('mod.txt', null, 12), '11_12'],
    ['an unchanged line after added ones', on('mod.txt', 11, 13), '11_13'],
    ['a shifted line between the hunks', on('mod.txt', 14, 16), '14_16'],
    ['a removed line near the end', on('mod.txt', 18, null), '18_20'],
    ['an unchanged line after a removed one', on('mod.txt', 19, 20), '19_20'],
    ['the last line', on('mod.txt', 20, 21), '20_21'],
    ['a line of a new file', on('fresh.txt', null, 2), '0_2'],
    ['a line of a deleted file', on('gone.txt', 1, null), '1_0'],
    ['a line of a renamed file', on('new name.txt', null, 20, 'old.txt'), '21_20', 'new name.txt'],
    ['an unchanged line of a renamed file', on('new name.txt', 1, 1, 'old.txt'), '1_1', 'new name.txt'],
    ['a line of a file whose mode changed', on('run.sh', 1, 1), '1_1'],
    ['a line with other blanks', on('space.txt', null, 1), '2_1'],
    ['a line that got its end', on('end.txt', null, 2), '3_2'],
  ])('%s', async ([, place, counters, file]) => {
    const { status, body } = await request.thread(place)
    expect([status, body]).toMatchObject([201, { individual_note: false }])
    const [note] = body['notes'] as Json[]
    expect(note).toMatchObject({
      type: 'DiffNote',
      commit_id: null,
      resolvable: true,
      resolved: false,
      position: {
        ...(await request.refs()),
        position_type: 'text',
        line_range: null,
        old_line: null,
        new_line: null,
        ...place,
      },
    })
    const stored = await world.service.services.db.writer
      .selectFrom('discussions as d')
      .select('d.line_code')
      .where('d.key', '=', body['id'] as string)
      .executeTakeFirstOrThrow()
    expect(stored.line_code).toBe(codeOf(file ?? (place['new_path'] as string), counters))
  })

  test.for<[string, Json, Json]>([
    ['an unchanged line by its new number alone', on('mod.txt', null, 4), noLine],
    ['an unchanged line by its old number alone', on('mod.txt', 4, null), noLine],
    ['numbers that do not belong together', on('mod.txt', 4, 5), noLine],
    ['a changed line by both numbers', on('mod.txt', 3, 3), noLine],
    ['a line after added ones without the shift', on('mod.txt', 14, 14), noLine],
    ['a line after the end', on('mod.txt', 21, 22), noLine],
    ['a line far after the end', on('mod.txt', null, 999), noLine],
    ['a negative line', on('mod.txt', -1, -1), noLine],
    ['line 0', on('mod.txt', 0, 0), noLine],
    ['a file that is not changed', on('kept.txt', 1, 1), noLine],
    ['a file that is not there', on('none.txt', null, 1), noLine],
    ['a binary file', on('bin.dat', 1, 1), noLine],
    ['a file by a wrong old name', on('fresh.txt', null, 9, 'mod.txt'), noLine],
    ['no lines', { old_path: 'mod.txt', new_path: 'mod.txt' }, incomplete],
    ['no paths', { new_line: 3 }, incomplete],
    [
      'no head',
      { ...on('mod.txt', null, 3), head_sha: undefined },
      { error: 'position[head_sha] is missing' },
    ],
    ['an unknown head', { ...on('mod.txt', null, 3), head_sha: 'f'.repeat(40) }, noLine],
    ['a head that is no id', { ...on('mod.txt', null, 3), head_sha: 'main' }, noLine],
    [
      'an unknown type',
      { ...on('mod.txt', null, 3), position_type: 'file' },
      { error: 'position[position_type] does not have a valid value' },
    ],
  ])('%s is refused', async ([, place, expected]) => {
    expect(await request.thread(place)).toMatchObject({ status: 400, body: expected })
  })

  test('a thread is on a commit of the request only', async () => {
    const { head_sha, base_sha } = await request.refs()
    const made = await request.thread(on('mod.txt', null, 3), { commit_id: head_sha })
    expect((made.body['notes'] as Json[])[0]).toMatchObject({ commit_id: head_sha })
    for (const commit_id of ['f'.repeat(40), base_sha, 'main'])
      expect(await request.thread(on('mod.txt', null, 3), { commit_id })).toMatchObject({
        status: 400,
        body: noLine,
      })
  })

  test('the diff of another request is refused', async () => {
    await using other = await Request.make({ 'mod.txt': 'a\n' }, { 'mod.txt': 'b\n' })
    const refs = await other.refs()
    expect(await request.thread({ ...on('mod.txt', null, 3), ...refs })).toMatchObject({
      status: 400,
      body: noLine,
    })
  })

  test('pictures have a place in pixels', async () => {
    const place = {
      position_type: 'image',
      old_path: 'pic.png',
      new_path: 'pic.png',
      width: 9,
      height: 8,
      x: 1.5,
      y: 2,
    }
    const { status, body } = await request.thread(place)
    expect(status).toBe(201)
    const [note] = body['notes'] as Json[]
    expect(note!['position']).toEqual({ ...(await request.refs()), ...place })
    for (const edge of [
      { x: 0, y: 0 },
      { x: 9, y: 8 },
    ])
      expect(await request.thread({ ...place, ...edge })).toMatchObject({ status: 201 })
    for (const outside of [{ x: -1 }, { x: 9.5 }, { y: 9 }, { y: -0.5 }, { width: 0 }, { height: -8 }])
      expect(await request.thread({ ...place, ...outside })).toMatchObject({ status: 400, body: noLine })
  })

  test('a thread may stand at several lines, the last of them being its own', async () => {
    const end = (counters: string, type: string): Json => ({ line_code: codeOf('mod.txt', counters), type })
    const range = (start: Json, last: Json): Json => ({
      ...on('mod.txt', null, 12),
      line_range: { start, end: last },
    })
    const { status, body } = await request.thread(range(end('10_10', 'old'), end('11_12', 'new')))
    expect(status).toBe(201)
    const [note] = body['notes'] as Json[]
    expect(note!['position']).toMatchObject({
      line_range: {
        start: { line_code: codeOf('mod.txt', '10_10'), type: 'old', old_line: 10 },
        end: { line_code: codeOf('mod.txt', '11_12'), type: 'new', new_line: 12 },
      },
    })
    for (const wrong of [
      range(end('13_15', 'old'), end('11_12', 'new')),
      range(end('10_10', 'old'), end('11_13', 'old')),
      range({ line_code: codeOf('fresh.txt', '0_1'), type: 'new' }, end('11_12', 'new')),
      range({ line_code: 'none', type: 'new' }, end('11_12', 'new')),
      range({ ...end('10_10', 'old'), old_line: -10 }, end('11_12', 'new')),
      range(end('10_10', 'old'), { ...end('11_12', 'new'), new_line: 13 }),
    ])
      expect(await request.thread(wrong)).toMatchObject({ status: 400, body: noLine })
    for (const [start, error] of [
      [{ line_code: codeOf('mod.txt', '10_10') }, 'position[line_range][start][type] is missing'],
      [end('10_10', 'other'), 'position[line_range][start][type] does not have a valid value'],
      [{ type: 'old' }, 'position[line_range][start][line_code] is missing'],
    ] as const)
      expect(await request.thread(range(start, end('11_12', 'new')))).toMatchObject({
        status: 400,
        body: { error },
      })
    const beyond = await request.thread(range({ ...end('7_7', ''), type: null }, end('11_12', 'new')))
    expect((beyond.body['notes'] as Json[])[0]!['position']).toMatchObject({
      line_range: { start: { type: null, old_line: 7, new_line: 7 } },
    })
  })

  test('answers stand where their thread does, and resolving is for all of it', async () => {
    const { body } = await request.thread(on('mod.txt', null, 3))
    const single = `${request.at}/discussions/${body['id'] as string}`
    const answer = expectStatus(await world.root.post(`${single}/notes`, { body: 'x' }), 201)
    expect(answer).toMatchObject({ type: 'DiffNote', position: { new_line: 3 } })
    const resolved = expectStatus(await world.root.put(single, { resolved: true }), 200)
    expect((resolved['notes'] as Json[]).map((note) => note['resolved'] as boolean)).toEqual([true, true])
    const late = expectStatus(await world.root.post(`${single}/notes`, { body: 'y' }), 201)
    expect(late).toMatchObject({ resolved: true, resolved_by: { username: 'root' } })
    const opened = expectStatus(
      await world.root.put(`${single}/notes/${late['id'] as number}`, { resolved: false }),
      200,
    )
    expect(opened).toMatchObject({ resolved: false, resolved_by: null, resolved_at: null })
  })
})

/** The files of one row: before, with the request, and after the next push; the line; and where it is then. */
type Row = readonly [
  string,
  Content,
  Content,
  Content,
  [number | null, number | null],
  [number | null, number | null] | 'outdated',
]
const ten = numbered(10)
const put = (at: number, ...lines: string[]): string =>
  text([...ten.slice(0, at), ...lines, ...ten.slice(at)])
const set = (at: number, line: string, more = ten): string =>
  text(more.map((old, index) => (index === at - 1 ? line : old)))
const drop = (at: number): string => text(ten.filter((_, index) => index !== at - 1))

const rows: Row[] = [
  ['an added line stays', text(ten), put(5, 'n'), put(5, 'n'), [null, 6], [null, 6]],
  [
    'an added line moves down',
    text(ten),
    put(5, 'n'),
    text(['t', ...ten.slice(0, 5), 'n', ...ten.slice(5)]),
    [null, 6],
    [null, 7],
  ],
  [
    'an added line moves up',
    text(ten),
    put(5, 'n'),
    text([...ten.slice(1, 5), 'n', ...ten.slice(5)]),
    [null, 6],
    [null, 5],
  ],
  ['an added line is changed', text(ten), put(5, 'n'), put(5, 'm'), [null, 6], 'outdated'],
  ['an added line is removed', text(ten), put(5, 'n'), put(2, 'other'), [null, 6], 'outdated'],
  ['the other of two added lines is removed', text(ten), put(5, 'n', 'o'), put(5, 'n'), [null, 6], [null, 6]],
  [
    'a line is added before it in the same hunk',
    text(ten),
    put(5, 'n'),
    put(5, 'first', 'n'),
    [null, 6],
    [null, 7],
  ],
  ['a replaced line stays', text(ten), set(5, 'n'), set(5, 'n'), [null, 5], [null, 5]],
  ['a replaced line is replaced again', text(ten), set(5, 'n'), set(5, 'm'), [null, 5], 'outdated'],
  ['a removed line stays removed', text(ten), drop(5), drop(5), [5, null], [5, null]],
  [
    'a removed line stays while others go',
    text(ten),
    drop(5),
    text([...ten.slice(0, 4), ...ten.slice(6)]),
    [5, null],
    [5, null],
  ],
  ['a removed line comes back', text(ten), drop(5), put(8, 'n'), [5, null], 'outdated'],
  ['an unchanged line stays', text(ten), put(5, 'n'), put(5, 'n'), [4, 4], [4, 4]],
  ['an unchanged line is shifted', text(ten), put(5, 'n'), put(5, 'n', 'm'), [6, 7], [6, 8]],
  [
    'an unchanged line is changed',
    text(ten),
    put(5, 'n'),
    set(4, 'x', [...ten.slice(0, 5), 'n', ...ten.slice(5)]),
    [4, 4],
    'outdated',
  ],
  [
    'an unchanged line is removed',
    text(ten),
    put(5, 'n'),
    text([...ten.slice(0, 3), ten[4]!, 'n', ...ten.slice(5)]),
    [4, 4],
    'outdated',
  ],
  ['an unchanged line leaves the diff', text(ten), put(5, 'n'), put(10, 'n'), [3, 3], 'outdated'],
  ['a new file stays', null, 'ccccccccc\ncccccc\n', 'ccccccccc\ncccccc\n', [null, 2], [null, 2]],
  ['a new file grows', null, 'eeeeeeeee\neeeeee\n', 'z\neeeeeeeee\neeeeee\n', [null, 2], [null, 3]],
  ['a new file is removed', null, 'ggggggggg\ngggggg\n', null, [null, 2], 'outdated'],
  ['a deleted file stays deleted', 'iiiiiiiii\niiiiii\n', null, null, [2, null], [2, null]],
  ['a deleted file comes back', 'kkkkkkkkk\nkkkkkk\n', null, 'kkkkkkkkk\nkkkkkk\n', [2, null], 'outdated'],
  ['only blanks change', text(ten), set(5, 'line  5'), set(5, 'line   5'), [null, 5], 'outdated'],
  ['the end of the file gets its newline', 'a\nb', 'a\nb\nc', 'a\nb\nc\n', [null, 2], [null, 2]],
]

test('threads follow the lines that they stand at, through a push', async () => {
  const files = (pick: 1 | 2 | 3): Files =>
    Object.fromEntries(
      rows.flatMap((row, index) => {
        const [content, earlier] = [row[pick], pick === 1 ? null : row[(pick - 1) as 1 | 2]]
        return content === null && earlier === null ? [] : [[`f${index}.txt`, content]]
      }),
    )
  await using request = await Request.make(files(1), files(2))
  const before = await request.refs()
  const threads: string[] = []
  for (const [index, [name, , , , [old, now]]] of rows.entries()) {
    const file = `f${index}.txt`
    const place = {
      old_path: file,
      new_path: file,
      ...(old !== null && { old_line: old }),
      ...(now !== null && { new_line: now }),
    }
    const { status, body } = await request.thread(place)
    expect([name, status, status === 201 || body]).toEqual([name, 201, true])
    threads.push(body['id'] as string)
  }
  const head = await request.commit(files(3))
  await request.push('change')
  const after = await request.settled(head)
  const found: unknown[] = []
  for (const [index, [name]] of rows.entries()) {
    const discussion = await request.discussion(threads[index]!)
    const [first, second] = discussion['notes'] as Json[]
    const { head_sha, old_line, new_line } = first!['position'] as Json
    if (head_sha === after.head_sha) found.push([name, [old_line, new_line]])
    else {
      expect([name, head_sha, second?.['system'], second?.['body']]).toEqual([
        name,
        before.head_sha,
        true,
        'changed this line in version 2 of the diff',
      ])
      found.push([name, 'outdated'])
    }
  }
  expect(found).toEqual(rows.map(([name, , , , , there]) => [name, there]))
})

test('a renamed file is followed', async () => {
  await using request = await Request.make({ 'a.txt': text(ten) }, { 'a.txt': put(5, 'n') })
  const { body } = await request.thread({ old_path: 'a.txt', new_path: 'a.txt', new_line: 6 })
  const head = await request.commit({ 'a.txt': null, 'b.txt': put(5, 'n') })
  await request.push('change')
  await request.settled(head)
  const [note] = (await request.discussion(body['id'] as string))['notes'] as Json[]
  expect(note!['position']).toMatchObject({
    head_sha: head,
    old_path: 'a.txt',
    new_path: 'b.txt',
    new_line: 6,
  })
})

test('a rebase on a target that went on, squashed and pushed by force, keeps threads in place', async () => {
  await using request = await Request.make({ 'a.txt': text(ten) }, { 'a.txt': put(5, 'n') })
  const { body } = await request.thread({ old_path: 'a.txt', new_path: 'a.txt', new_line: 6 })
  const kept = await request.thread({ old_path: 'a.txt', new_path: 'a.txt', old_line: 6, new_line: 7 })
  await request.git('checkout', '--quiet', 'main')
  await request.commit({ 'a.txt': text(['top', ...ten]) })
  await request.push('main')
  await request.git('checkout', '--quiet', 'change')
  await request.commit({ 'other.txt': 'x\n' })
  await request.git('rebase', '--quiet', 'main')
  await request.git('reset', '--quiet', '--soft', 'main')
  const head = await request.commit({})
  await request.push('change')
  const refs = await request.settled(head)
  const position = async (id: unknown): Promise<unknown> =>
    ((await request.discussion(id as string))['notes'] as Json[])[0]!['position']
  expect(await position(body['id'])).toMatchObject({ ...refs, old_line: null, new_line: 7 })
  expect(await position(kept.body['id'])).toMatchObject({ ...refs, old_line: 7, new_line: 8 })
})

/** What becomes of a thread at the added line 6 of `a.txt`, and what is pushed meanwhile. */
const ways: [string, (request: Request) => Promise<void>, Json][] = [
  [
    'a target that is merged into the source',
    async (request) => {
      await request.git('checkout', '--quiet', 'main')
      await request.commit({ 'a.txt': text(['top', ...ten]) })
      await request.push('main')
      await request.git('checkout', '--quiet', 'change')
      await request.git('merge', '--quiet', '--no-edit', 'main')
    },
    { new_line: 7 },
  ],
  [
    'a target that does not fit any more',
    async (request) => {
      await request.git('checkout', '--quiet', 'main')
      await request.commit({ 'a.txt': put(5, 'other') })
      await request.push('main')
      await request.git('checkout', '--quiet', 'change')
      await request.commit({ 'b.txt': 'b\n' })
    },
    { new_line: 6 },
  ],
  [
    'a mode that is changed',
    async (request) => {
      await chmod(path.join(request.folder, 'a.txt'), 0o755)
      await request.commit({})
    },
    { new_line: 6 },
  ],
  [
    'a file that is renamed and changed above',
    (request) =>
      request
        .commit({ 'a.txt': null, 'c.txt': text(['top', ...ten.slice(0, 5), 'n', ...ten.slice(5)]) })
        .then(),
    { new_line: 7, old_path: 'a.txt', new_path: 'c.txt' },
  ],
  [
    'blanks at the end of another line',
    (request) =>
      request.commit({ 'a.txt': set(1, 'line 1  ', [...ten.slice(0, 5), 'n', ...ten.slice(5)]) }).then(),
    { new_line: 6 },
  ],
  [
    'other history with the same files',
    async (request) => {
      await request.git('checkout', '--quiet', '--orphan', 'anew')
      await request.git('reset', '--quiet', '--hard', 'main')
      await request.commit({ 'a.txt': put(5, 'n') })
    },
    { new_line: 6 },
  ],
  [
    'a file that becomes binary',
    (request) => request.commit({ 'a.txt': Buffer.from([0, 1, 2, 3]) }).then(),
    { outdated: true },
  ],
]

test.for(ways)('a thread meets %s', async ([, change, expected]) => {
  await using request = await Request.make({ 'a.txt': text(ten) }, { 'a.txt': put(5, 'n') })
  const before = await request.refs()
  const place = { old_path: 'a.txt', new_path: 'a.txt', new_line: 6 }
  const code = (counters: string) => ({ line_code: codeOf('a.txt', counters), type: 'new' })
  const line_range = { start: { line_code: codeOf('a.txt', '5_5'), type: 'old' }, end: code('6_6') }
  const { body } = await request.thread({ ...place, line_range })
  await change(request)
  const head = await request.git('rev-parse', 'HEAD')
  await request.push('change')
  const refs = await request.settled(head)
  const [note] = (await request.discussion(body['id'] as string))['notes'] as Json[]
  const { outdated, ...there } = expected
  const position = note!['position'] as Json
  if (outdated === true) expect(position).toMatchObject({ ...before, ...place })
  else {
    expect(position).toMatchObject({ ...refs, ...place, ...there })
    const line = there['new_line'] as number
    const file = (there['new_path'] as string | undefined) ?? 'a.txt'
    const { end, start } = position['line_range'] as { end: Json; start: Json }
    expect([
      end['new_line'],
      (start['line_code'] as string).startsWith(codeOf(file, '').slice(0, 40)),
    ]).toEqual([line, true])
  }
})

test('a thread begun at an older version stands where its line is now', async () => {
  await using request = await Request.make({ 'a.txt': text(ten) }, { 'a.txt': put(5, 'n') })
  const before = await request.refs()
  const head = await request.commit({ 'a.txt': text(['top', ...ten.slice(0, 5), 'n', ...ten.slice(5)]) })
  await request.push('change')
  const refs = await request.settled(head)
  const { status, body } = await request.thread({
    ...before,
    old_path: 'a.txt',
    new_path: 'a.txt',
    new_line: 6,
  })
  expect([status, (body['notes'] as Json[])[0]!['position']]).toMatchObject([201, { ...refs, new_line: 7 }])
})

test('an outdated thread is resolved where the project wants it', async () => {
  await using request = await Request.make(
    { 'a.txt': text(ten) },
    { 'a.txt': put(5, 'n') },
    { resolve_outdated_diff_discussions: true },
  )
  const { body } = await request.thread({ old_path: 'a.txt', new_path: 'a.txt', new_line: 6 })
  expect(bodyOf(await world.root.get(request.at))).toMatchObject({ blocking_discussions_resolved: false })
  const head = await request.commit({ 'a.txt': put(5, 'm') })
  await request.push('change')
  await request.settled(head)
  await eventually(async () => {
    const [note] = (await request.discussion(body['id'] as string))['notes'] as Json[]
    return note!['resolved'] === true
  })
  expect(bodyOf(await world.root.get(request.at))).toMatchObject({ blocking_discussions_resolved: true })
})

test('a commit is discussed at its lines, also in the words of old clients', async () => {
  const project = await world.project()
  const push = async (content: string, first: boolean): Promise<string> => {
    const made = await world.root.post(`/projects/${project.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'x',
      actions: [{ action: first ? 'create' : 'update', file_path: 'a.txt', content }],
    })
    return expectStatus(made, 201)['id'] as string
  }
  const parent = await push(text(ten), true)
  const sha = await push(put(5, 'n'), false)
  const at = `/projects/${project.id}/repository/commits/${sha}`
  const position = {
    base_sha: parent,
    start_sha: parent,
    head_sha: sha,
    position_type: 'text',
    old_path: 'a.txt',
    new_path: 'a.txt',
    new_line: 6,
  }
  const thread = expectStatus(await world.root.post(`${at}/discussions`, { body: 'x', position }), 201)
  expect((thread['notes'] as Json[])[0]).toMatchObject({
    type: 'DiffNote',
    position: { new_line: 6 },
    resolvable: false,
  })
  expect(
    await world.root.post(`${at}/discussions`, { body: 'x', position: { ...position, base_sha: sha } }),
  ).toMatchObject({ status: 400, body: noLine })
  const old = { note: 'y', path: 'a.txt', line: 7, line_type: 'new' }
  const made = expectStatus(await world.root.post(`${at}/comments`, old), 201)
  expect(made).toEqual({ ...old, author: made['author'] as Json, created_at: made['created_at'] as string })
  expectStatus(await world.root.post(`${at}/comments`, { note: 'plain' }), 201)
  const shown = rowsOf(await world.root.get(`${at}/comments`)).map(
    ({ note, path: file, line }) => [note, file, line] as unknown[],
  )
  expect(shown).toEqual([
    ['x', 'a.txt', 6],
    ['y', 'a.txt', 7],
    ['plain', null, null],
  ])
  const single = rowsOf(await world.root.get(`${at}/discussions`)).find(
    (one) => one['individual_note'] === true,
  )
  expect(
    await world.root.post(`${at}/discussions/${single!['id'] as string}/notes`, { body: 'x' }),
  ).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - Discussion can not be replied to.' },
  })
})

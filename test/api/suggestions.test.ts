// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import type { Person, Reply } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let place: MergeProject
let author: Person
let reviewer: Person
beforeAll(async () => {
  world = await startWorld()
  place = await new MergeProjects(world).make()
  author = place.developer
  reviewer = place.maintainer
})
afterAll(() => world[Symbol.asyncDispose]())

const block = (content: string, range = ''): string => `\`\`\`suggestion${range}\n${content}\`\`\``

interface Review {
  readonly branch: string
  readonly at: string
  readonly refs: Json
}

const review = async (content = 'one\ntwo\nthree\nfour\n', file = 'a.txt'): Promise<Review> => {
  const request = await place.request({ [file]: content })
  return {
    branch: request['source_branch'] as string,
    at: place.one(request['iid'] as number),
    refs: request['diff_refs'] as Json,
  }
}

/** A thread at a line of `a.txt`; gives its first note. */
const suggest = async (
  { at, refs }: Review,
  new_line: number,
  body: string,
  fields: Json = {},
  by = reviewer,
): Promise<Json> => {
  const position = {
    ...refs,
    position_type: 'text',
    old_path: 'a.txt',
    new_path: 'a.txt',
    new_line,
    ...fields,
  }
  const thread = expectStatus(await by.post(`${at}/discussions`, { body, position }), 201)
  return { ...(thread['notes'] as Json[])[0]!, discussion: thread['id'] }
}
const suggestionsOf = (note: Json): Json[] => note['suggestions'] as Json[]
const only = (note: Json): Json => {
  expect(suggestionsOf(note)).toHaveLength(1)
  return suggestionsOf(note)[0]!
}
const apply = (suggestion: Json, by: Person = author, fields: Json = {}): Promise<Reply> =>
  by.put(`/suggestions/${suggestion['id'] as number}/apply`, fields)
const fileOn = async (branch: string, file = 'a.txt'): Promise<string> =>
  (await world.root.get(`${place.base}/repository/files/${file}/raw?ref=${branch}`)).text
const headOn = async (branch: string): Promise<Json> =>
  expectStatus(await world.root.get(`${place.base}/repository/commits/${branch}`), 200)

describe('what notes propose', () => {
  test('stands in the note, with the lines as they are', async () => {
    const made = await review()
    const note = await suggest(made, 2, `Better:\n${block('TWO\nand more\n')}\n${block('', ':-1+1')}`)
    expect(suggestionsOf(note)).toEqual([
      {
        id: expect.any(Number),
        from_line: 2,
        to_line: 2,
        appliable: true,
        applied: false,
        from_content: 'two\n',
        to_content: 'TWO\nand more\n',
      },
      {
        id: expect.any(Number),
        from_line: 1,
        to_line: 3,
        appliable: true,
        applied: false,
        from_content: 'one\ntwo\nthree\n',
        to_content: '',
      },
    ])
    const [listed] = rowsOf(await author.get(`${made.at}/notes?activity_filter=only_comments`))
    expect(listed!['suggestions']).toEqual(note['suggestions'])
  })

  test('is not more than the file has, and nothing where it changes nothing', async () => {
    const made = await review()
    const [first, last, same] = [
      await suggest(made, 1, block('x\n', ':-5+0')),
      await suggest(made, 4, block('x\n', ':-0+9')),
      await suggest(made, 2, block('two\n')),
    ]
    expect(only(first)).toMatchObject({ from_line: 1, to_line: 1, from_content: 'one\n' })
    expect(only(last)).toMatchObject({ from_line: 4, to_line: 4, from_content: 'four\n' })
    expect(only(same)).toMatchObject({ appliable: false })
    expect(expectStatus(await apply(only(same)), 400)['message']).toContain('has there already')
  })

  test('is of lines that are there, in replies too, and goes with an edit', async () => {
    const made = await review()
    const note = await suggest(made, 2, 'Hm.')
    expect(note['suggestions']).toEqual([])
    const thread = `${made.at}/discussions/${note['discussion'] as string}/notes`
    const reply = expectStatus(await reviewer.post(thread, { body: block('2\n') }), 201)
    expect(only(reply)).toMatchObject({ from_content: 'two\n', to_content: '2\n' })
    const single = `${thread}/${reply['id'] as number}`
    const edited = expectStatus(await reviewer.put(single, { body: block('II\n') }), 200)
    expect(only(edited)).toMatchObject({ to_content: 'II\n' })
    const silent = expectStatus(await reviewer.put(single, { body: 'Never mind.' }), 200)
    expect(silent['suggestions']).toEqual([])
    expectStatus(await apply(only(edited)), 404)
    const single2 = expectStatus(await reviewer.post(`${made.at}/notes`, { body: block('x\n') }), 201)
    expect(single2).not.toHaveProperty('suggestions')
  })

  test('comes with reviews', async () => {
    const made = await review()
    const note = await suggest(made, 2, 'Hm.')
    const at = { ...made.refs, position_type: 'text', old_path: 'a.txt', new_path: 'a.txt', new_line: 3 }
    const drafts = `${made.at}/draft_notes`
    expectStatus(await reviewer.post(drafts, { note: block('3\n'), position: at }), 201)
    expectStatus(
      await reviewer.post(drafts, { note: block('2\n'), in_reply_to_discussion_id: note['discussion'] }),
      201,
    )
    expectStatus(await reviewer.post(`${drafts}/bulk_publish`), 204)
    const notes = rowsOf(await author.get(`${made.at}/notes?sort=asc&activity_filter=only_comments`))
    expect(notes.map((one) => suggestionsOf(one).map((each) => each['from_content']))).toEqual([
      [],
      ['three\n'],
      ['two\n'],
    ])
  })
})

describe('applying', () => {
  test('commits as the one who proposed it, and resolves the thread', async () => {
    const made = await review()
    const note = await suggest(made, 2, block('TWO\n'))
    const applied = expectStatus(await apply(only(note)), 200)
    expect(applied).toEqual({ ...only(note), applied: true, appliable: false })
    expect(await fileOn(made.branch)).toBe('one\nTWO\nthree\nfour\n')
    const nameOf = async (one: Person) => expectStatus(await one.get('/user'), 200)['name']
    expect(await headOn(made.branch)).toMatchObject({
      message: 'Apply 1 suggestion(s) to 1 file(s)',
      author_name: await nameOf(reviewer),
      committer_name: await nameOf(author),
    })
    const now = expectStatus(await author.get(`${made.at}/notes/${note['id'] as number}`), 200)
    expect(now).toMatchObject({ resolved: true })
    expect(only(now)).toMatchObject({ applied: true, appliable: false })
    expect(expectStatus(await apply(only(note)), 400)['message']).toContain('applied before')
  })

  test('several make one commit, with the message that is asked for', async () => {
    const made = await review()
    const first = await suggest(made, 1, block('1\n'))
    const others = await suggest(made, 3, block('3\n', ':-0+1'), {}, author)
    const ids = [only(first)['id'], only(others)['id']]
    const before = await headOn(made.branch)
    const commit_message =
      'Do %{suggestions_count} in %{file_paths} of %{project_path}@%{branch_name} %{nothing}\n\n%{co_authored_by}'
    const reply = await author.put('/suggestions/batch_apply', { ids, commit_message })
    expect(expectStatus(reply, 200)).toMatchObject([{ applied: true }, { applied: true }])
    expect(await fileOn(made.branch)).toBe('1\ntwo\n3\n')
    const head = await headOn(made.branch)
    expect(head['parent_ids']).toEqual([before['id']])
    expect(head['message']).toContain(`Do 2 in a.txt of ${place.fullPath}@${made.branch} %{nothing}`)
    expect(head['message']).toMatch(/\n\nCo-authored-by: .* <.*>$/)
  })

  test('goes on while the positions are still being followed', async () => {
    const made = await review()
    const [first, second] = [await suggest(made, 1, block('1\n1.5\n')), await suggest(made, 3, block('3\n'))]
    expectStatus(await apply(only(first)), 200)
    expectStatus(await apply(only(second)), 200)
    expect(await fileOn(made.branch)).toBe('1\n1.5\ntwo\n3\nfour\n')
  })

  test('keeps the line ends of the file', async () => {
    const made = await review('one\r\ntwo\r\nlast')
    const [first, last] = [await suggest(made, 1, block('1\n1.5\n')), await suggest(made, 3, block('3\n'))]
    const ids = [only(first)['id'], only(last)['id']]
    expectStatus(await author.put('/suggestions/batch_apply', { ids }), 200)
    expect(await fileOn(made.branch)).toBe('1\r\n1.5\r\ntwo\r\n3')
  })

  test('is refused where the lines were changed meanwhile', async () => {
    const made = await review()
    const line = await suggest(made, 2, block('TWO\n'))
    const around = await suggest(made, 3, block('x\n', ':-1+0'))
    await place.commit(made.branch, { 'a.txt': 'one\ntwo!\nthree\nfour\n' })
    for (const note of [line, around])
      expect(expectStatus(await apply(only(note)), 400)['message']).toContain('were changed')
    await eventually(async () => {
      const notes = rowsOf(await author.get(`${made.at}/notes?sort=asc&activity_filter=only_comments`))
      return notes.every((one) => only(one)['appliable'] === false)
    })
    expect(await fileOn(made.branch)).toBe('one\ntwo!\nthree\nfour\n')
  })

  test('is refused for the same lines twice, for several requests, and for nothing at all', async () => {
    const [made, other] = [await review(), await review()]
    const first = only(await suggest(made, 2, block('x\n')))
    const over = only(await suggest(made, 3, block('y\n', ':-1+0')))
    const else_ = only(await suggest(other, 1, block('z\n')))
    const batch = async (...ids: unknown[]): Promise<string> => {
      const { message, error } = expectStatus(await author.put('/suggestions/batch_apply', { ids }), 400)
      return (message ?? error) as string
    }
    expect(await batch(first['id'], over['id'])).toContain('same lines')
    expect(await batch(first['id'], else_['id'])).toContain('several merge requests')
    expect(await batch()).toContain('ids is empty')
    expectStatus(await author.put('/suggestions/batch_apply', { ids: [first['id'], 999_999_999] }), 404)
    expectStatus(await author.put('/suggestions/batch_apply', { ids: Array(101).fill(1) }), 400)
    expect(await fileOn(made.branch)).toBe('one\ntwo\nthree\nfour\n')
  })

  test('needs the right to push to the branch, and to see the request', async () => {
    const made = await review()
    const suggestion = only(await suggest(made, 2, block('x\n')))
    const [reporter, stranger] = [
      await world.member({ project: place.project }, 'reporter'),
      await world.user(),
    ]
    expectStatus(await apply(suggestion, reporter), 403)
    expectStatus(await apply(suggestion, stranger), 404)
    expectStatus(await author.put(made.at, { state_event: 'close' }), 200)
    expect(expectStatus(await apply(suggestion), 400)['message']).toContain('closed')
  })
})

test('a suggestion to a fork is committed there, by who may push to its branch', async () => {
  const open = await new MergeProjects(world).make({ visibility: 'public' })
  const contributor = await world.user()
  const fork = expectStatus(await contributor.post(`${open.base}/fork`, {}), 201)
  const own = `/projects/${fork['id'] as number}`
  const file = { branch: 'work', start_branch: 'main', commit_message: 'x', content: 'one\ntwo\nthree\n' }
  expectStatus(await contributor.post(`${own}/repository/files/a.txt`, file), 201)
  const fields = { source_branch: 'work', target_branch: 'main', title: 'Work', target_project_id: open.id }
  const request = expectStatus(await contributor.post(`${own}/merge_requests`, fields), 201)
  const made = {
    branch: 'work',
    at: open.one(request['iid'] as number),
    refs: await eventually(async () => {
      const { diff_refs: refs } = expectStatus(await contributor.get(open.one(request['iid'] as number)), 200)
      return (refs as Json | null) ?? undefined
    }),
  }
  const [first, second] = [
    await suggest(made, 1, block('ONE\n'), {}, open.maintainer),
    await suggest(made, 3, block('THREE\n'), {}, open.maintainer),
  ]
  const content = async (): Promise<string> =>
    (await contributor.get(`${own}/repository/files/a.txt/raw?ref=work`)).text

  // The branch is the contributor's alone until he lets others in.
  expectStatus(await apply(only(first), open.maintainer), 403)
  expectStatus(await apply(only(first), contributor), 200)
  expect(await content()).toBe('ONE\ntwo\nthree\n')
  expectStatus(await contributor.put(made.at, { allow_collaboration: true }), 200)
  expectStatus(await apply(only(second), open.maintainer), 200)
  expect(await content()).toBe('ONE\ntwo\nTHREE\n')
  const head = expectStatus(await contributor.get(`${own}/repository/branches/work`), 200)['commit'] as Json
  await eventually(async () => expectStatus(await contributor.get(made.at), 200)['sha'] === head['id'])
  expectStatus(await contributor.get(`${open.base}/repository/branches/work`), 404)
  for (const note of [first, second]) {
    const now = expectStatus(await contributor.get(`${made.at}/notes/${note['id'] as number}`), 200)
    expect([now['resolved'], only(now)['applied']]).toEqual([true, true])
  }
})

test('the project says how the commits are called', async () => {
  const made = await review()
  expectStatus(
    await world.root.put(place.base, { suggestion_commit_message: '%{username}: %{file_paths}' }),
    200,
  )
  const suggestion = only(await suggest(made, 2, block('TWO\n')))
  expectStatus(await apply(suggestion), 200)
  expect((await headOn(made.branch))['message']).toBe(`${author.username}: a.txt`)
  expectStatus(await world.root.put(place.base, { suggestion_commit_message: '' }), 200)
})

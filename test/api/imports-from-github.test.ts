// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during, set } from '../settings/effects.ts'
import type { Person, Reply } from '../world/client.ts'
import { eventually } from '../world/merge-project.ts'
import { openOctoHost, type Commits } from '../world/octo-host.ts'
import { gitOf } from '../world/repositories.ts'
import type { HostAnswer, SourceHost } from '../world/source-host.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

const stack = new AsyncDisposableStack()
let world: World
let host: SourceHost
let commits: Commits
let home: Made

beforeAll(async () => {
  const opened = await openOctoHost()
  host = stack.use(opened.host)
  commits = opened.commits
  world = stack.use(await startWorld())
  await set(world, { import_sources: ['github'], allow_local_requests_from_web_hooks_and_services: true })
  home = await world.group({ visibility: 'public' })
})
afterAll(() => stack.disposeAsync())

function ask(fields: Json = {}, who: Person = world.root): Promise<Reply> {
  return who.post('/import/github', {
    personal_access_token: host.secret,
    repo_id: 42,
    target_namespace: home.full_path,
    github_hostname: host.url,
    new_name: world.unique('app'),
    ...fields,
  })
}

const read = async (path: string, who: Person = world.root): Promise<Json> =>
  expectStatus(await who.get(path), 200)

/** What is told of an import that is over. */
function over(id: number): Promise<Json> {
  return eventually(async () => {
    const state = await read(`/projects/${id}/import`)
    return !['scheduled', 'started'].includes(state['import_status'] as string) && state
  })
}

async function brought(
  fields: Json = {},
  who: Person = world.root,
): Promise<{ path: string; state: Json; id: number }> {
  const made = expectStatus(await ask(fields, who), 201)
  const id = made['id'] as number
  return { id, path: `/projects/${id}`, state: await over(id) }
}

/** Answers something else at a path for the time of some work. */
async function answering(path: string, answer: HostAnswer, work: () => Promise<void>): Promise<void> {
  const before = host.answers[path]!
  host.answers[path] = answer
  try {
    await work()
  } finally {
    host.answers[path] = before
  }
}
const repo = '/api/v3/repos/octo/app'
const notAllowed = 'You are not allowed to import projects in this namespace.'

describe('a repository', () => {
  let ada: Person
  let path: string
  let state: Json
  let id: number

  beforeAll(async () => {
    ada = await world.user({ username: 'ada', email: 'ada@example.com' })
    host.asked.length = 0
    const done = await brought({ pagination_limit: 2, optional_stages: { collaborators_import: true } })
    ;({ path, state, id } = done)
  })

  test('is told of as it begins and as it ends', async () => {
    const name = world.unique('told')
    const made = expectStatus(await ask({ new_name: name }), 201)
    expect(made).toEqual({
      id: expect.any(Number),
      name,
      full_path: `/${home.full_path}/${name}`,
      full_name: `${home.name} / ${name}`,
      refs_url: `/${home.full_path}/${name}/refs`,
      import_source: 'octo/app',
      import_status: 'scheduled',
      human_import_status_name: 'scheduled',
      provider_link: '/octo/app',
      relation_type: null,
      import_warning: null,
    })
    await over(made['id'] as number)
    expect(state).toMatchObject({ import_status: 'finished', import_type: 'github', import_error: null })
    expect(state['stats']).toMatchObject({
      imported: { labels: 2, milestones: 1, issues: 2, pull_requests: 3, diff_notes: 3, releases: 1 },
    })
    const failed = state['failed_relations'] as Json[]
    expect(
      failed.map(({ relation_name: relation, exception_message: text }) => [relation, text] as unknown),
    ).toEqual(
      expect.arrayContaining([
        ['notes', 'there is no 99 that it is about'],
        ['releases', 'there is no tag v9'],
      ]),
    )
    expect(failed).toHaveLength(2)
  })

  test('comes with its code, its wiki and what it says of itself', async () => {
    expect(await read(path)).toMatchObject({
      description: 'An application',
      visibility: 'public',
      default_branch: 'main',
      import_type: 'github',
      import_url: null,
    })
    const branches = (await read(`${path}/repository/branches`)) as Json[]
    const fork = `GH-${commits.fork.slice(0, 7)}-grace/4/app-fork/topic`
    expect(branches.map(({ name }) => name as string).toSorted()).toEqual([fork, 'feature', 'main'])
    expect(await gitOf(world, id, 'rev-parse', 'refs/tags/v1.0')).toBe(commits.merged)
    expect(await gitOf(world, id, 'rev-parse', 'refs/merge-requests/5/head')).toBe(commits.done)
    expect(await read(`${path}/wikis/Home`)).toMatchObject({ content: 'Of the wiki' })
    expect(await read(`${path}/pipelines`)).toEqual([])
  })

  test('comes with issues, whose people are those that are known here', async () => {
    expect(await read(`${path}/issues/1`)).toMatchObject({
      title: 'Number 1',
      description: 'Body of 1, says `@ada` to `@all`',
      state: 'opened',
      author: { id: ada.id },
      assignees: [{ id: ada.id }],
      labels: ['a b', 'bug'],
      milestone: { title: 'First', state: 'closed', due_date: '2020-01-30' },
      created_at: '2020-01-01T10:00:00.000Z',
      updated_at: '2020-01-02T10:00:00.000Z',
      user_notes_count: 1,
    })
    expect(await read(`${path}/issues/2`)).toMatchObject({
      state: 'closed',
      author: { id: world.root.id },
      description: '*Created by: grace*\n\nBody of 2, says `@ada` to `@all`',
      closed_at: '2020-01-09T10:00:00.000Z',
    })
    expect(await read(`${path}/issues/1/notes`)).toMatchObject([
      { body: '*Created by: grace*\n\nComment 11', created_at: '2020-01-11T10:00:00.000Z', system: false },
    ])
    const next = expectStatus(await world.root.post(`${path}/issues`, { title: 'Next' }), 201)
    expect(next['iid']).toBe(3)
  })

  test('comes with pull requests as merge requests, with the numbers that they have', async () => {
    expect(await read(`${path}/merge_requests/3`)).toMatchObject({
      title: 'Draft: Number 3',
      state: 'opened',
      draft: true,
      source_branch: 'feature',
      target_branch: 'main',
      sha: commits.feature,
      author: { id: ada.id },
      labels: ['bug'],
      updated_at: '2020-01-04T10:00:00.000Z',
    })
    expect(await read(`${path}/merge_requests/4`)).toMatchObject({
      state: 'opened',
      source_branch: `GH-${commits.fork.slice(0, 7)}-grace/4/app-fork/topic`,
      sha: commits.fork,
    })
    expect(await read(`${path}/merge_requests/5`)).toMatchObject({
      state: 'merged',
      merged_at: '2020-01-20T10:00:00.000Z',
      merge_user: { id: ada.id },
      merge_commit_sha: commits.merged,
      sha: commits.done,
    })
    const diffs = (await read(`${path}/merge_requests/3/diffs`)) as Json[]
    expect(diffs.map((diff) => diff['new_path'] as string)).toEqual(['main.txt'])
    expect(await read(`${path}/merge_requests/5/commits`)).toMatchObject([{ id: commits.done }])
    // It can be merged like any other.
    expectStatus(await world.root.put(`${path}/merge_requests/4/merge`), 200)
  })

  test('comes with reviews and comments, on the lines where they were', async () => {
    const discussions = (await read(`${path}/merge_requests/3/discussions`)) as Json[]
    const notes = discussions.map((discussion) => discussion['notes'] as Json[])
    const onLine = notes.find(([first]) => first!['position'] !== undefined)!
    expect(onLine).toMatchObject([
      {
        body: '*Created by: grace*\n\nComment 21',
        type: 'DiffNote',
        resolvable: true,
        position: { new_path: 'main.txt', new_line: 2, old_line: null, head_sha: commits.feature },
      },
      { body: 'Comment 22', author: { id: ada.id } },
    ])
    const others = notes.filter((thread) => thread !== onLine).map(([first]) => first!['body'] as string)
    expect(others.toSorted()).toEqual([
      '*Commented on `main.txt`*\n\n```diff\n@@ -1 +1 @@\n-two\n+2\n```\n\n*Created by: grace*\n\nComment 23',
      '*Created by: grace*\n\n*Approved this merge request*\n\nLooks good',
      'Comment 12',
    ])
  })

  test('comes with releases, rules of branches, and collaborators where that is asked for', async () => {
    expect(await read(`${path}/releases`)).toMatchObject([
      { tag_name: 'v1.0', name: 'The first', description: 'What is new', author: { id: ada.id } },
    ])
    expect(await read(`${path}/protected_branches/main`)).toMatchObject({
      allow_force_push: true,
      code_owner_approval_required: true,
      push_access_levels: [{ access_level: 0 }],
      merge_access_levels: [{ access_level: 40 }],
    })
    expect(await read(path)).toMatchObject({ only_allow_merge_if_all_discussions_are_resolved: true })
    expect(await read(`${path}/members/${ada.id}`)).toMatchObject({ access_level: 30 })
    const { path: without } = await brought()
    expect((await world.root.get(`${without}/members/${ada.id}`)).status).toBe(404)
  })

  test('leaves nothing behind that was only needed for it', async () => {
    const { reader } = world.service.services.db
    const { rows } = await sql<{ credentials: string | null }>`
      select i.credentials from host_imports i where i.project_id = ${id}`.execute(reader)
    expect(rows).toEqual([{ credentials: null }])
    for (const table of ['steps', 'items', 'people']) {
      const left = await sql`select from ${sql.table(`host_import_${table}`)} t
        join host_imports i on i.id = t.import_id where i.project_id = ${id}`.execute(reader)
      expect(left.rows).toEqual([])
    }
    expect(JSON.stringify(state)).not.toContain(host.secret)
  })
})

describe('what is asked for', () => {
  test('is refused where the host is no source, or the place is not the caller’s', async () => {
    const stranger = await world.user()
    const developer = await world.member({ group: home }, 'developer')
    for (const [fields, who, status, body] of [
      [{ target_namespace: 'no/such' }, world.root, 422, { errors: notAllowed }],
      [{}, stranger, 422, { errors: notAllowed }],
      [{}, developer, 422, { errors: notAllowed }],
      [{ target_namespace: world.root.username }, stranger, 422, { errors: notAllowed }],
      [{ github_hostname: 'ftp://x' }, world.root, 400, { errors: 'Invalid URL: ftp://x' }],
      [
        { personal_access_token: 'wrong' },
        world.root,
        401,
        { error: 'Access denied to your GitHub account.' },
      ],
      [
        { repo_id: 43 },
        world.root,
        422,
        { errors: 'Import failed due to a GitHub error: The host answers with 404. (HTTP 404)' },
      ],
      [{ repo_id: 'x' }, world.root, 400, { error: 'repo_id is invalid' }],
      [{ timeout_strategy: 'x' }, world.root, 400, { error: 'timeout_strategy does not have a valid value' }],
      [{ new_name: '-x-' }, world.root, 422, { errors: expect.stringContaining('Path ') }],
    ] as const) {
      const reply = await ask(fields, who)
      expect([fields, reply.status, reply.body]).toEqual([fields, status, body])
    }
    const { id } = await brought({ new_name: 'twice' })
    expect(id).toBeGreaterThan(0)
    const again = await ask({ new_name: 'twice' })
    expect([again.status, again.body]).toEqual([
      422,
      { errors: expect.stringContaining('has already been taken') },
    ])
  })

  test('is refused while the settings do not name the host as a source', async () => {
    await during(world, { import_sources: ['bitbucket'] }, async () => {
      const refused = await ask()
      expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    })
    expectStatus(await ask(), 201)
  })

  test('comes to the caller’s own namespace, too', async () => {
    const owner = await world.user()
    const { path, state } = await brought({ target_namespace: owner.username }, owner)
    expect(state).toMatchObject({ import_status: 'finished' })
    expect(await read(path, owner)).toMatchObject({ namespace: { kind: 'user', path: owner.username } })
  })

  test('says of nobody that he wrote something who is no member, where nobody knows who runs the host', async () => {
    const owner = await world.user()
    const { path } = await brought({ target_namespace: owner.username }, owner)
    const issue = await read(`${path}/issues/1`, owner)
    expect(issue).toMatchObject({ author: { id: owner.id }, assignees: [] })
    expect(issue['description']).toMatch(/^\*Created by: ada\*/)
    const group = await world.group({}, owner)
    const ada = (await read('/users?username=ada')) as unknown as Json[]
    await owner.post(`/groups/${group.id}/members`, { user_id: ada[0]!['id'], access_level: 20 })
    const { path: among } = await brought({ target_namespace: group.full_path }, owner)
    expect(await read(`${among}/issues/1`, owner)).toMatchObject({ author: { username: 'ada' } })
  })

  test('says of administrators that they wrote something where the settings let it', async () => {
    await world.user({ username: 'grace', email: 'grace@example.com', admin: true })
    const answer: HostAnswer = () => ({ login: 'grace', id: 5, email: 'grace@example.com' })
    const authorOf = async () => {
      const { path } = await brought()
      return ((await read(`${path}/issues/2`))['author'] as Json)['username'] as string
    }
    await answering('/api/v3/users/grace', answer, async () => {
      await during(world, { allow_contribution_mapping_to_admins: true }, async () => {
        expect(await authorOf()).toBe('grace')
      })
      expect(await authorOf()).toBe('root')
    })
  })
})

describe('a host that is not what it should be', () => {
  test('is left alone as long as it wants to be', async () => {
    let left = 2
    const answer = host.answers[`${repo}/labels`]!
    const limited: HostAnswer = (request, reply, url) => {
      left -= 1
      if (left < 0) return answer(request, reply, url)
      reply.writeHead(left === 0 ? 429 : 403, { 'retry-after': '1' }).end('{}')
      return undefined
    }
    await answering(`${repo}/labels`, limited, async () => {
      const { state } = await brought()
      expect(state).toMatchObject({ import_status: 'finished', stats: { imported: { labels: 2 } } })
    })
    expect(left).toBe(-1)
  })

  test('is not led elsewhere: not to another host, and not into the network', async () => {
    const other = stack.use((await openOctoHost()).host)
    for (const link of [
      `${other.url}${repo}/labels?page=2`,
      'http://169.254.169.254/latest',
      'file:///etc/passwd',
    ]) {
      const answer: HostAnswer = (_, reply) => {
        reply.setHeader('link', `<${link}>; rel="next"`)
        return []
      }
      await answering(`${repo}/labels`, answer, async () => {
        const { state } = await brought()
        expect(state).toMatchObject({
          import_status: 'failed',
          import_error: 'The host names an address that is not its own.',
        })
      })
    }
    expect(other.asked).toEqual([])
  })

  test('does not lead into the private network by a redirection', async () => {
    const inside = stack.use((await openOctoHost()).host)
    const answer: HostAnswer = (_, reply) => {
      reply.writeHead(302, { location: `${inside.url}${repo}/labels` }).end()
      return undefined
    }
    const values = {
      allow_local_requests_from_web_hooks_and_services: false,
      outbound_local_requests_allowlist_raw: new URL(host.url).host,
    }
    await during(world, values, async () => {
      await answering(`${repo}/labels`, answer, async () => {
        const { state } = await brought()
        expect(state).toMatchObject({
          import_status: 'failed',
          import_error: expect.stringMatching(/^The host is blocked/),
        })
      })
    })
    expect(inside.asked).toEqual([])
  })

  test('is told of, and the rest is brought where that is asked for', async () => {
    const broken: HostAnswer = () => [{ number: 'x' }, null, { number: 1, title: '\0', state: [] }, 3]
    await answering(`${repo}/issues`, broken, async () => {
      const { state } = await brought()
      expect(state).toMatchObject({ import_status: 'finished', stats: { imported: { pull_requests: 3 } } })
      const failed = state['failed_relations'] as Json[]
      expect(failed.filter(({ relation_name: name }) => name === 'issues')).toHaveLength(4)
    })
    const gone: HostAnswer = (_, reply) => void reply.writeHead(410).end('{}')
    await answering(`${repo}/milestones`, gone, async () => {
      const whole = await brought()
      expect(whole.state).toMatchObject({
        import_status: 'failed',
        import_error: 'The host answers with 410.',
      })
      const rest = await brought({ timeout_strategy: 'optimistic' })
      expect(rest.state).toMatchObject({ import_status: 'finished', stats: { imported: { issues: 2 } } })
    })
  })

  test('may answer with as much as it likes', async () => {
    const endless: HostAnswer = (_, reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' })
      const piece = ' '.repeat(1024 * 1024)
      const more = (): void => {
        while (reply.write(piece));
      }
      reply.on('drain', more)
      more()
      return undefined
    }
    await answering(`${repo}/milestones`, endless, async () => {
      const { state } = await brought()
      expect(state).toMatchObject({ import_status: 'failed', import_error: 'The host answers too much.' })
    })
  })
})

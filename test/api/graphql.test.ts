import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, type Person } from '../world/client.ts'
import { data, errors, sendQuery } from '../world/graphql.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let guest: Person
let developer: Person
beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'private', initialize_with_readme: true })
  guest = await world.member({ project }, 'guest')
  developer = await world.member({ project }, 'developer')
})
afterAll(() => world[Symbol.asyncDispose]())

const idOf = (globalId: string): number => Number(globalId.split('/').at(-1))

const projectFragment = `
  fragment details on Project {
    id name description httpUrlToRepo sshUrlToRepo fullPath webUrl wikiEnabled
    group { id }
    repository { empty rootRef }
  }`
const getProject = `${projectFragment}
  query GetProject($path: ID!) { project(fullPath: $path) { ...details } }`

describe('projects and people', () => {
  test('a project is found by its full path, as editors ask for it', async () => {
    expect(await data(guest, getProject, { path: project.path_with_namespace })).toEqual({
      project: {
        id: `gid://gitlab/Project/${project.id}`,
        name: project.name,
        description: null,
        httpUrlToRepo: project['http_url_to_repo'] as string,
        sshUrlToRepo: project['ssh_url_to_repo'] as string,
        fullPath: project.path_with_namespace,
        webUrl: project.web_url,
        wikiEnabled: true,
        group: { id: `gid://gitlab/Group/${(project['namespace'] as Json)['id']}` },
        repository: null,
      },
    })
    const seen = await data(developer, getProject, { path: project.path_with_namespace })
    expect((seen['project'] as Json)['repository']).toEqual({ empty: false, rootRef: 'main' })
  })

  test('who does not see a project finds none, and so is what is not there', async () => {
    const stranger = await world.user()
    for (const by of [stranger, world.anonymous])
      expect(await data(by, getProject, { path: project.path_with_namespace })).toEqual({ project: null })
    for (const path of ['no/where', String(project.id), '', '..', 'a/../b', 'ä/\u{1f600}'])
      expect(await data(developer, getProject, { path })).toEqual({ project: null })
  })

  test('nobody signed in sees what is public', async () => {
    const open = await world.project({ visibility: 'public', initialize_with_readme: true })
    const seen = await data(world.anonymous, getProject, { path: open.path_with_namespace })
    expect(seen['project']).toMatchObject({ name: open.name, repository: { empty: false, rootRef: 'main' } })
    expect(await data(world.anonymous, '{ currentUser { id } metadata { version } }')).toEqual({
      currentUser: null,
      metadata: null,
    })
  })

  test('projects are listed as editors choose among them', async () => {
    const query = `${projectFragment}
      query GetProjects($search: String, $membership: Boolean, $limit: Int, $searchNamespaces: Boolean) {
        projects(search: $search, membership: $membership, first: $limit, searchNamespaces: $searchNamespaces) {
          nodes { ...details }
        }
      }`
    const asked = { search: project.path_with_namespace, membership: true, limit: 30, searchNamespaces: true }
    const listed = await data(developer, query, asked)
    expect((listed['projects'] as Json)['nodes']).toEqual([
      expect.objectContaining({ fullPath: project.path_with_namespace }),
    ])
    expect(((await data(await world.user(), query, asked))['projects'] as Json)['nodes']).toEqual([])
  })

  test('a group shows its projects, and a user himself', async () => {
    const group = await world.group({ description: 'Of tests' })
    const inside = await world.project({ namespace_id: group.id })
    const query = `query($path: ID!, $name: String) {
      group(fullPath: $path) { id fullName description projects { nodes { name group { description } } } }
      user(username: $name) { id username webPath ... on User { name } }
      currentUser { username }
      metadata { version enterprise }
    }`
    const version = expectStatus(await developer.get('/metadata'), 200)
    expect(await data(world.root, query, { path: group.full_path, name: guest.username })).toEqual({
      group: {
        id: `gid://gitlab/Group/${group.id}`,
        fullName: group.name,
        description: 'Of tests',
        projects: { nodes: [{ name: inside.name, group: { description: 'Of tests' } }] },
      },
      user: {
        id: `gid://gitlab/User/${guest.id}`,
        username: guest.username,
        webPath: `/${guest.username}`,
        name: `Name of ${guest.username}`,
      },
      currentUser: { username: 'root' },
      metadata: { version: version['version'] as string, enterprise: version['enterprise'] as boolean },
    })
    expect(
      await data(guest, 'query($path: ID!) { group(fullPath: $path) { id } }', { path: group.full_path }),
    ).toEqual({ group: null })
  })
})

describe('lists', () => {
  const query = `query($path: ID!, $first: Int, $after: String) {
    project(fullPath: $path) {
      issues(first: $first, after: $after) {
        nodes { title }
        edges { cursor node { iid } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }`
  let path: string
  beforeAll(async () => {
    const made = await world.project()
    path = made.path_with_namespace
    for (const title of ['one', 'two', 'three', 'four', 'five'])
      expectStatus(await world.root.post(`/projects/${made.id}/issues`, { title }), 201)
  })
  const issuesOf = async (asked: Json): Promise<Json> => {
    const found = await data(world.root, query, { path, ...asked })
    return (found['project'] as Json)['issues'] as Json
  }
  const titles = ({ nodes }: Json): string[] => (nodes as Json[]).map(({ title }) => title as string)

  test('are gone through by their cursors to the end', async () => {
    const first = await issuesOf({ first: 2 })
    expect(titles(first)).toEqual(['five', 'four'])
    expect(first['pageInfo']).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
    const second = await issuesOf({ first: 2, after: (first['pageInfo'] as Json)['endCursor'] })
    expect(titles(second)).toEqual(['three', 'two'])
    const last = await issuesOf({ first: 2, after: (second['pageInfo'] as Json)['endCursor'] })
    expect(titles(last)).toEqual(['one'])
    expect(last['pageInfo']).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    expect((await issuesOf({}))['pageInfo']).toMatchObject({ hasNextPage: false })
  })

  test('go on behind any row, with pages of another size', async () => {
    const { edges } = await issuesOf({ first: 3 })
    const second = (edges as Json[])[1]!['cursor'] as string
    const read: string[] = []
    let after: string | null = second
    while (after !== null) {
      const page: Json = await issuesOf({ first: 4, after })
      read.push(...titles(page))
      const { hasNextPage, endCursor } = page['pageInfo'] as Json
      after = hasNextPage === true ? (endCursor as string) : null
    }
    expect(read).toEqual(['three', 'two', 'one'])
  })

  test('refuse sizes and cursors that are none', async () => {
    for (const asked of [{ first: 0 }, { first: -1 }, { after: '!' }, { after: 'bm8' }])
      expect(await errors(world.root, query, { path, ...asked })).toHaveLength(1)
  })

  test('take the filters of their kind', async () => {
    const filtered = `query($path: ID!, $iids: [String!], $state: IssuableState) {
      project(fullPath: $path) { issues(iids: $iids, state: $state) { nodes { title } } }
    }`
    const found = await data(world.root, filtered, { path, iids: ['2', '3'], state: 'opened' })
    expect(found).toEqual({ project: { issues: { nodes: [{ title: 'three' }, { title: 'two' }] } } })
    expect(await data(world.root, filtered, { path, state: 'closed' })).toEqual({
      project: { issues: { nodes: [] } },
    })
  })
})

describe('pipelines and snippets', () => {
  test('pipelines show their jobs', async () => {
    const made = await world.project({ initialize_with_readme: true })
    const commit = expectStatus(
      await world.root.post(`/projects/${made.id}/repository/commits`, {
        branch: 'main',
        commit_message: 'CI',
        actions: [
          {
            action: 'create',
            file_path: '.gitlab-ci.yml',
            content: 'build: { script: [make], stage: build }',
          },
        ],
      }),
      201,
    )
    await world.settled()
    const query = `query($path: ID!, $sha: String) {
      project(fullPath: $path) {
        pipelines(sha: $sha, status: PENDING) {
          nodes { id iid ref sha status duration user { username } jobs { nodes { id name status stage { name } } } }
        }
        jobs(statuses: [PENDING]) { nodes { name } }
      }
    }`
    const { project: seen } = await data(world.root, query, {
      path: made.path_with_namespace,
      sha: commit['id'] as string,
    })
    const { pipelines, jobs } = seen as Json
    const [pipeline] = (pipelines as Json)['nodes'] as Json[]
    expect(pipeline).toMatchObject({
      iid: '1',
      ref: 'main',
      sha: commit['id'] as string,
      status: 'PENDING',
      duration: null,
      user: { username: 'root' },
      jobs: { nodes: [{ name: 'build', status: 'PENDING', stage: { name: 'build' } }] },
    })
    expect(jobs).toEqual({ nodes: [{ name: 'build' }] })
    const job = (((pipeline!['jobs'] as Json)['nodes'] as Json[])[0] as Json)['id'] as string
    const single = `query($path: ID!, $pipeline: CiPipelineID!, $job: JobID!) {
      project(fullPath: $path) { pipeline(id: $pipeline) { iid } job(id: $job) { name } }
    }`
    const named = { path: made.path_with_namespace, pipeline: pipeline!['id'] as string, job }
    expect(await data(world.root, single, named)).toEqual({
      project: { pipeline: { iid: '1' }, job: { name: 'build' } },
    })
  })

  test('snippets of a project show their files, as editors insert them', async () => {
    const files = [
      { file_path: 'src/a b.txt', content: 'Ä\n' },
      { file_path: 'large.txt', content: 'x'.repeat(1024 * 1024 + 1) },
    ]
    const made = expectStatus(
      await developer.post(`/projects/${project.id}/snippets`, { title: 'T', visibility: 'private', files }),
      201,
    )
    const list = `query GetSnippets($path: ID!, $afterCursor: String) {
      project(fullPath: $path) {
        id
        snippets(after: $afterCursor) {
          pageInfo { hasNextPage endCursor }
          nodes { id title description blobs { nodes { name path rawPath } } }
        }
      }
    }`
    const listed = await data(developer, list, { path: project.path_with_namespace, afterCursor: null })
    const [snippet] = ((listed['project'] as Json)['snippets'] as Json)['nodes'] as Json[] as [Json]
    expect(idOf(snippet['id'] as string)).toBe(made['id'])
    const rawPath = `/${project.path_with_namespace}/-/snippets/${made['id']}/raw/main/`
    expect((snippet['blobs'] as Json)['nodes']).toEqual([
      { name: 'large.txt', path: 'large.txt', rawPath: `${rawPath}large.txt` },
      { name: 'a b.txt', path: 'src/a b.txt', rawPath: `${rawPath}src/a%20b.txt` },
    ])
    const content = `query GetSnippetContent($id: SnippetID!) {
      snippets(ids: [$id]) { nodes { blobs { nodes { path rawPlainData } } } }
    }`
    const { id } = snippet
    expect(await data(developer, content, { id })).toEqual({
      snippets: {
        nodes: [
          {
            blobs: {
              nodes: [
                { path: 'large.txt', rawPlainData: null },
                { path: 'src/a b.txt', rawPlainData: 'Ä\n' },
              ],
            },
          },
        ],
      },
    })
    expect(await data(await world.user(), content, { id })).toEqual({ snippets: { nodes: [] } })
  })
})

describe('who asks', () => {
  const mine = '{ currentUser { username } }'

  test('shows himself as to the API', async () => {
    const bearer = new Client(world.url, { authorization: `Bearer ${developer.token}` })
    const nobody = new Client(world.url)
    for (const by of [bearer, developer])
      expect(await data(by, mine)).toEqual({ currentUser: { username: developer.username } })
    const asked = { query: getProject, variables: { path: project.path_with_namespace } }
    for (const name of ['private_token', 'access_token']) {
      const reply = await nobody.post(`${world.url}/api/graphql?${name}=${developer.token}`, asked)
      expect(reply.body).toMatchObject({ data: { project: { name: project.name } } })
    }
    const sudo = await sendQuery(world.root, mine, {}, { sudo: guest.username })
    expect(sudo.body).toEqual({ data: { currentUser: { username: guest.username } } })
  })

  test('is refused with a wrong token, a job token, and one that does not reach the API', async () => {
    for (const headers of [
      { authorization: 'Bearer wrong' },
      { 'private-token': 'wrong' },
      { 'job-token': 'wrong' },
    ]) {
      const reply = await sendQuery(new Client(world.url, headers), mine)
      expect([reply.status, reply.body]).toEqual([401, { errors: [{ message: 'Invalid token' }] }])
    }
    const narrow = await world.token(developer.id, ['read_repository'])
    const reply = await sendQuery(new Client(world.url, { 'private-token': narrow }), mine)
    expect(reply.status).toBe(403)
    expect(reply.body).toEqual({ errors: [{ message: expect.any(String) as string }] })
  })

  test('reads with GET, and nothing else', async () => {
    const ask = (query: string, method = 'GET') =>
      developer.request(method, `${world.url}/api/graphql?${new URLSearchParams({ query }).toString()}`)
    expect((await ask(mine)).body).toEqual({ data: { currentUser: { username: developer.username } } })
    const reply = await ask('mutation { destroyNote(input: { id: "gid://gitlab/Note/1" }) { errors } }')
    expect([reply.status, (reply.body as Json)['errors']]).toEqual([
      422,
      [{ message: expect.any(String) as string }],
    ])
    for (const method of ['PUT', 'PATCH', 'DELETE']) expect((await ask(mine, method)).status).toBe(405)
    const variables = JSON.stringify({ path: project.path_with_namespace })
    const query = new URLSearchParams({ query: getProject, variables }).toString()
    expect((await developer.get(`${world.url}/api/graphql?${query}`)).body).toMatchObject({
      data: { project: { name: project.name } },
    })
  })

  test('may be a page of another place', async () => {
    const origin = 'https://elsewhere.example'
    const reply = await sendQuery(developer, mine, {}, { origin })
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('what is no query', () => {
  const send = (body: unknown, headers?: Record<string, string>) =>
    developer.post(`${world.url}/api/graphql`, body, headers)

  test('is refused as the language has it', async () => {
    for (const query of [
      '',
      '{',
      '{ nothing }',
      'query Q($a: Nothing) { currentUser { id } }',
      '{ a: __typename ...a } fragment a on Query { ...a }',
    ])
      expect((await errors(developer, query)).length).toBeGreaterThan(0)
    expect(await errors(developer, 'query A { __typename } query B { __typename }')).toHaveLength(1)
    const missing = await errors(developer, getProject)
    expect(missing).toHaveLength(1)
  })

  test('is refused where the body is none', async () => {
    const json = { 'content-type': 'application/json' }
    for (const [body, headers] of [
      ['{', json],
      ['[]', json],
      [[{ query: '{ currentUser { id } }' }], undefined],
      ['1', json],
      [{ query: ['{ __typename }'] }, undefined],
      [{ query: '{ __typename }', variables: [1] }, undefined],
      [{ query: '{ __typename }', variables: '[' }, undefined],
      [{ query: '{ __typename }', variables: 7 }, undefined],
      [{ query: '{ __typename }', operationName: {} }, undefined],
    ] as const) {
      const reply = await send(body, headers)
      expect([reply.status, reply.body]).toEqual([
        400,
        { errors: [{ message: expect.any(String) as string }] },
      ])
    }
    expect((await send('{ __typename }', { 'content-type': 'application/graphql' })).status).toBe(415)
    for (const body of [{}, { query: null }, { query: ' ' }])
      expect([(await send(body)).status, (await send(body)).body]).toEqual([
        200,
        { errors: [{ message: 'There is no query' }] },
      ])
    expect((await send({ query: '{ __typename }', variables: null, operationName: '' })).body).toEqual({
      data: { __typename: 'Query' },
    })
  })

  test('names only ids of the kind that is meant', async () => {
    const query = 'query($id: MergeRequestID!) { mergeRequest(id: $id) { id } }'
    for (const id of ['1', 'gid://gitlab/Issue/1', 'gid://gitlab/MergeRequest/x', 1, ['a'], { a: 1 }])
      expect(await errors(developer, query, { id })).toHaveLength(1)
    expect(await data(developer, query, { id: 'gid://gitlab/MergeRequest/999999999' })).toEqual({
      mergeRequest: null,
    })
  })
})

describe('limits', () => {
  test('the schema is read whole', async () => {
    const { __schema: schema } = await data(world.anonymous, getIntrospectionQuery())
    const names = ((schema as Json)['types'] as Json[]).map(({ name }) => name as string)
    expect(names).toEqual(expect.arrayContaining(['Project', 'NoteableID', 'DiffPositionInput']))
  })

  test('queries are no longer, deeper or wider than they need to be', async () => {
    const many = (count: number, field: string) =>
      Array.from({ length: count }, (_, at) => `f${at}: ${field}`).join(' ')
    const groups = (depth: number): string =>
      depth === 0 ? 'id' : `projects(first: 1) { nodes { group { ${groups(depth - 1)} } } }`
    const doubling = Array.from(
      { length: 60 },
      (_, at) => `fragment f${at} on Query { ...f${at + 1} ...f${at + 1} }`,
    )
    for (const query of [
      `{ currentUser { ${many(250, 'id')} } }`,
      `{ ${many(90, '__schema { types { fields { type { name kind } } } }')} }`,
      `{ group(fullPath: "a") { ${groups(7)} } }`,
      `{ __typename #${'x'.repeat(10_000)}\n }`,
      `{ ...f0 } ${doubling.join(' ')} fragment f60 on Query { __typename }`,
      `{ ...a } fragment a on Query { ${many(2_000, 'x')} }`,
      '{a'.repeat(3_000),
    ])
      expect(await errors(developer, query)).toHaveLength(1)
    expect(await errors(developer, `{ currentUser { ${many(200, 'id')} } }`)).toEqual([])
  })

  test('a query asks the API no more than two hundred times', async () => {
    const group = await world.group()
    for (let count = 0; count < 3; count += 1) await world.project({ namespace_id: group.id })
    const jobs = Array.from(
      { length: 70 },
      (_, at) => `j${at}: job(id: "gid://gitlab/Ci::Build/${at + 1}") { id }`,
    )
    const query = `query($path: ID!) { group(fullPath: $path) { projects { nodes { ${jobs.join(' ')} } } } }`
    const told = await errors(world.root, query, { path: group.full_path })
    expect(told.length).toBeGreaterThan(0)
    expect(new Set(told)).toEqual(
      new Set(['The query asks for too many things at once: ask for fewer with `first`']),
    )
  })
})

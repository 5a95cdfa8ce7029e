// @module-tag long
import {
  buildClientSchema,
  getIntrospectionQuery,
  getNamedType,
  isLeafType,
  type GraphQLObjectType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import { Client, type Person } from '../world/client.ts'
import { data, errors, sendQuery } from '../world/graphql.ts'
import { MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/** Discussions of merge requests and issues, with the queries that editor extensions send. */
let world: World
let merge: MergeProject
let guest: Person
let request: Json
let issue: Json
beforeAll(async () => {
  world = await startWorld()
  merge = await new MergeProjects(world).make({ visibility: 'public' })
  guest = await world.member({ project: merge.project }, 'guest')
  request = await merge.request({ 'a.txt': 'one\ntwo\n' })
  issue = expectStatus(await guest.post(`${merge.base}/issues`, { title: 'Issue' }), 201)
})
afterAll(() => world[Symbol.asyncDispose]())

const noteDetails = `
  fragment position on Note {
    position {
      diffRefs { baseSha headSha startSha }
      filePath positionType newLine oldLine newPath oldPath positionType
    }
  }
  fragment noteDetails on Note {
    id createdAt system
    author { avatarUrl name username webUrl }
    body bodyHtml url
    userPermissions { resolveNote adminNote createNote }
    ...position
  }`
const discussionDetails = `${noteDetails}
  fragment discussionDetails on Discussion {
    replyId createdAt resolved resolvable
    notes { pageInfo { hasNextPage endCursor } nodes { ...noteDetails } }
  }`
const discussionsOf = (noteable: 'mergeRequest' | 'issue') => `${discussionDetails}
  query GetDiscussions($path: ID!, $iid: String!, $afterCursor: String) {
    project(fullPath: $path) {
      id
      ${noteable}(iid: $iid) {
        discussions(after: $afterCursor) {
          pageInfo { hasNextPage endCursor }
          nodes { ...discussionDetails }
        }
      }
    }
  }`
const createNote = `${noteDetails}
  mutation CreateNote($id: NoteableID!, $body: String!, $replyId: DiscussionID, $head: String) {
    createNote(input: { noteableId: $id, body: $body, discussionId: $replyId, mergeRequestDiffHeadSha: $head }) {
      errors
      note { ...noteDetails }
    }
  }`
const createDiffNote = `${discussionDetails}
  mutation CreateDiffNote($id: NoteableID!, $body: String!, $position: DiffPositionInput!) {
    createDiffNote(input: { noteableId: $id, body: $body, position: $position }) {
      errors
      note { discussion { ...discussionDetails } }
    }
  }`
const updateNote = `mutation UpdateNoteBody($id: NoteID!, $body: String) {
  updateNote(input: { id: $id, body: $body }) { errors }
}`
const destroyNote = 'mutation DeleteNote($id: NoteID!) { destroyNote(input: { id: $id }) { errors } }'
const toggle = `mutation DiscussionToggleResolve($replyId: DiscussionID!, $resolved: Boolean!) {
  discussionToggleResolve(input: { id: $replyId, resolve: $resolved }) { errors }
}`

const requestId = () => `gid://gitlab/MergeRequest/${request['id']}`
const issueId = () => `gid://gitlab/Issue/${issue['id']}`
const idOf = (globalId: string): number => Number(globalId.split('/').at(-1))

async function discussions(by: Client, noteable: 'mergeRequest' | 'issue' = 'mergeRequest'): Promise<Json[]> {
  const { iid } = noteable === 'issue' ? issue : request
  const asked = { path: merge.fullPath, iid: String(iid), afterCursor: null }
  const found = await data(by, discussionsOf(noteable), asked)
  return ((found['project'] as Json)[noteable] as Json)['discussions'].nodes as Json[]
}
const notesOf = (discussion: Json): Json[] => (discussion['notes'] as Json)['nodes'] as Json[]

async function writeNote(by: Person, id: string, body: string, replyId?: string): Promise<Json> {
  const { createNote: made } = await data(by, createNote, { id, body, replyId })
  expect((made as Json)['errors']).toEqual([])
  return (made as Json)['note'] as Json
}

async function writeOnLine(by: Person, body: string, position: Json = {}): Promise<Json> {
  const { diff_refs: refs } = expectStatus(await by.get(merge.one(request['iid'] as number)), 200)
  const { base_sha: baseSha, head_sha: headSha, start_sha: startSha } = refs as Json
  const paths = { newPath: 'a.txt', oldPath: 'a.txt' }
  const asked = { baseSha, headSha, startSha, paths, newLine: 2, ...position }
  return (await data(by, createDiffNote, { id: requestId(), body, position: asked }))[
    'createDiffNote'
  ] as Json
}

describe('comments', () => {
  test('are written, read, changed and removed', async () => {
    const body = `See !${request['iid']} **now**`
    const note = await writeNote(guest, issueId(), body)
    expect(note).toMatchObject({
      system: false,
      body,
      url: `${issue['web_url']}#note_${idOf(note['id'] as string)}`,
      author: { username: guest.username, name: `Name of ${guest.username}` },
      userPermissions: { resolveNote: false, adminNote: true, createNote: true },
      position: null,
    })
    expect(note['bodyHtml']).toContain('<strong>now</strong>')
    expect(note['bodyHtml']).toContain(`href="${request['web_url']}"`)
    const [discussion] = await discussions(guest, 'issue')
    expect(discussion).toMatchObject({ resolvable: false, resolved: false })
    expect(notesOf(discussion!)).toEqual([note])
    const { id } = note
    expect(await data(guest, updateNote, { id, body: 'Changed' })).toEqual({ updateNote: { errors: [] } })
    expect(notesOf((await discussions(guest, 'issue'))[0]!)[0]).toMatchObject({ id, body: 'Changed' })
    expect(await data(guest, destroyNote, { id })).toEqual({ destroyNote: { errors: [] } })
    expect(await discussions(guest, 'issue')).toEqual([])
    expect(await errors(guest, destroyNote, { id })).toHaveLength(1)
  })

  test('of lines are threads, which are answered and resolved', async () => {
    const { note, errors: faults } = await writeOnLine(merge.maintainer, 'Why?')
    expect(faults).toEqual([])
    const { discussion } = note as Json
    const { replyId } = discussion as Json
    expect(replyId).toMatch(/^gid:\/\/gitlab\/Discussion\/[0-9a-f]{40}$/)
    expect(discussion).toMatchObject({ resolvable: true, resolved: false })
    expect(notesOf(discussion as Json)).toMatchObject([
      {
        id: expect.stringMatching(/^gid:\/\/gitlab\/DiffNote\/\d+$/) as string,
        body: 'Why?',
        userPermissions: { resolveNote: true, adminNote: true, createNote: true },
        position: { filePath: 'a.txt', newPath: 'a.txt', newLine: 2, oldLine: null, positionType: 'text' },
      },
    ])
    await writeNote(merge.developer, requestId(), 'Because', replyId as string)
    const thread = async (by: Client) => (await discussions(by)).find((one) => one['replyId'] === replyId)!
    expect(notesOf(await thread(guest)).map((one) => [one['body'], one['userPermissions']])).toEqual([
      ['Why?', { resolveNote: false, adminNote: false, createNote: true }],
      ['Because', { resolveNote: false, adminNote: false, createNote: true }],
    ])
    for (const resolved of [true, false]) {
      expect(await data(merge.developer, toggle, { replyId, resolved })).toEqual({
        discussionToggleResolve: { errors: [] },
      })
      expect(await thread(guest)).toMatchObject({ resolved })
    }
    expect(await errors(guest, toggle, { replyId, resolved: true })).toHaveLength(1)
  })

  test('tell what is wrong with them among their own errors', async () => {
    expect(await data(guest, createNote, { id: issueId(), body: ' ' })).toEqual({
      createNote: { errors: [expect.stringContaining("can't be blank")], note: null },
    })
    const { note, errors: faults } = await writeOnLine(merge.developer, 'x', { newLine: 99 })
    expect([note, (faults as string[]).length]).toEqual([null, 1])
    const { id } = await writeNote(guest, issueId(), 'y')
    const { updateNote: updated } = await data(guest, updateNote, { id, body: null })
    expect((updated as Json)['errors']).toHaveLength(1)
  })

  test('know their discussion, whoever asks about one of them', async () => {
    const query = `mutation($id: NoteableID!) {
      createNote(input: { noteableId: $id, body: "Alone", clientMutationId: "m" }) {
        clientMutationId
        note { discussion { id notes { nodes { body discussion { id } } } } }
      }
    }`
    const { createNote: made } = await data(guest, query, { id: issueId() })
    const { clientMutationId, note } = made as Json
    expect(clientMutationId).toBe('m')
    const { id, notes } = (note as Json)['discussion'] as Json
    expect(notes).toEqual({ nodes: [{ body: 'Alone', discussion: { id } }] })
  })

  test('that are commands alone become no note', async () => {
    expect(await data(merge.developer, createNote, { id: issueId(), body: '/close' })).toEqual({
      createNote: { errors: [], note: null },
    })
    expect(expectStatus(await guest.get(`${merge.base}/issues/${issue['iid']}`), 200)['state']).toBe('closed')
    await world.root.put(`${merge.base}/issues/${issue['iid']}`, { state_event: 'reopen' })
  })
})

describe('who may', () => {
  const permission = `query GetMrPermissions($path: ID!, $iid: String!) {
    project(fullPath: $path) { mergeRequest(iid: $iid) { userPermissions { createNote } } }
  }`
  const mayComment = async (by: Client): Promise<unknown> => {
    const asked = { path: merge.fullPath, iid: String(request['iid']) }
    const { project } = await data(by, permission, asked)
    return ((project as Json)['mergeRequest'] as Json)['userPermissions'].createNote as unknown
  }

  test('comment is told beforehand', async () => {
    expect(await mayComment(guest)).toBe(true)
    expect(await mayComment(world.anonymous)).toBe(false)
    const one = merge.one(request['iid'] as number)
    expectStatus(await merge.maintainer.put(one, { discussion_locked: true }), 200)
    expect([await mayComment(await world.user()), await mayComment(merge.developer)]).toEqual([false, true])
    expectStatus(await merge.maintainer.put(one, { discussion_locked: false }), 200)
    expectStatus(await world.root.post(`${merge.base}/archive`), 201)
    expect(await mayComment(merge.maintainer)).toBe(false)
    expectStatus(await world.root.post(`${merge.base}/unarchive`), 201)
  })

  test('change a thing is told beforehand, as the API decides it', async () => {
    const mayChange = async (by: Client, noun: 'issue' | 'mergeRequest', iid: unknown): Promise<unknown> => {
      const field = noun === 'issue' ? 'updateIssue' : 'updateMergeRequest'
      const query = `query($path: ID!, $iid: String!) {
        project(fullPath: $path) { ${noun}(iid: $iid) { userPermissions { may: ${field} } } }
      }`
      const { project } = await data(by, query, { path: merge.fullPath, iid: String(iid) })
      return ((project as Json)[noun] as Json)['userPermissions'].may as unknown
    }
    const passerBy = await world.user()
    for (const [noun, thing, path] of [
      ['issue', issue, `${merge.base}/issues`],
      ['mergeRequest', request, merge.path],
    ] as const) {
      expect(await mayChange(world.anonymous, noun, thing['iid'])).toBe(false)
      for (const by of [guest, passerBy, merge.developer]) {
        const told = await mayChange(by, noun, thing['iid'])
        expectStatus(await by.put(`${path}/${thing['iid']}`, { title: 'Changed' }), told === true ? 200 : 403)
        // The issue is the guest's own.
        expect([noun, told]).toEqual([noun, by === merge.developer || (by === guest && noun === 'issue')])
      }
    }
  })

  test('read a description reads it rendered, without being anybody', async () => {
    const description = `See !${request['iid']}, **now** <script>alert(1)</script>`
    expectStatus(await guest.put(`${merge.base}/issues/${issue['iid']}`, { description }), 200)
    const { project } = await data(
      world.anonymous,
      'query($path: ID!, $iid: String!) { project(fullPath: $path) { issue(iid: $iid) { descriptionHtml } } }',
      { path: merge.fullPath, iid: String(issue['iid']) },
    )
    const html = ((project as Json)['issue'] as Json)['descriptionHtml'] as string
    expect(html).toContain('<strong>now</strong>')
    expect(html).toContain(`href="${request['web_url']}"`)
    expect(html).not.toContain('<script')
  })

  test('not write does not, and learns nothing of what he does not see', async () => {
    const hidden = await world.project({ visibility: 'private' })
    const kept = expectStatus(await world.root.post(`/projects/${hidden.id}/issues`, { title: 'T' }), 201)
    const note = await writeNote(world.root, `gid://gitlab/Issue/${kept['id']}`, 'Secret')
    const { id } = note
    const refusals = [
      await errors(guest, createNote, { id: `gid://gitlab/Issue/${kept['id']}`, body: 'x' }),
      await errors(guest, createNote, { id: 'gid://gitlab/Issue/999999999', body: 'x' }),
      await errors(guest, updateNote, { id, body: 'x' }),
      await errors(guest, updateNote, { id: 'gid://gitlab/Note/999999999', body: 'x' }),
      await errors(guest, toggle, { replyId: `gid://gitlab/Discussion/${'0'.repeat(40)}`, resolved: true }),
      await errors(world.anonymous, createNote, { id: issueId(), body: 'x' }),
      await errors(guest, updateNote, { id: (await writeNote(world.root, issueId(), 'z'))['id'], body: 'x' }),
    ]
    expect(refusals).toEqual(refusals.map(() => ['There is no such thing, or you may not do this with it']))
    expect(
      await data(guest, 'query($id: IssueID!) { issue(id: $id) { title } }', {
        id: `gid://gitlab/Issue/${kept['id']}`,
      }),
    ).toEqual({ issue: null })
  })

  test('only read with his token writes nothing', async () => {
    const reading = new Client(world.url, { 'private-token': await world.token(guest.id, ['read_api']) })
    expect(await discussions(reading, 'issue')).not.toEqual([])
    expect(await errors(reading, createNote, { id: issueId(), body: 'x' })).toHaveLength(1)
  })

  test('be a page of another place that sends a cookie along is nobody', async () => {
    const password = 'correct horse battery staple'
    const person = await world.user({ force_random_password: undefined, password })
    const fields = { 'user[login]': person.username, 'user[password]': password }
    const signed = await fetch(`${world.url}/users/sign_in`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'sec-fetch-site': 'same-origin' },
    })
    const cookie = (signed.headers.get('set-cookie') ?? '').split(';', 1)[0]!
    const token = ((await signed.json()) as Json)['csrf_token'] as string
    const own = await world.project({ namespace_id: undefined }, person)
    const query = 'query($path: ID!) { currentUser { username } project(fullPath: $path) { name } }'
    const path = own.path_with_namespace
    const page = new Client(world.url, { cookie })
    expect(await data(page, query, { path })).toEqual({ currentUser: null, project: null })
    const ours = new Client(world.url, { cookie, 'x-csrf-token': token })
    expect(await data(ours, query, { path })).toEqual({
      currentUser: { username: person.username },
      project: { name: own.name },
    })
  })

  test('ask too often is told so, as by the API', async () => {
    const person = await world.user()
    const limit = {
      throttle_authenticated_api_enabled: true,
      throttle_authenticated_api_requests_per_period: 1,
      throttle_authenticated_api_period_in_seconds: 3600,
    }
    await during(world, limit, async () => {
      const statuses: number[] = []
      for (let count = 0; count < 3; count += 1)
        statuses.push((await sendQuery(person, '{ __typename }')).status)
      expect(statuses.at(-1)).toBe(429)
    })
  })
})

describe('merge requests', () => {
  test('show what is looked at beside their discussions', async () => {
    const query = `query($path: ID!, $branch: [String!]) {
      project(fullPath: $path) {
        mergeRequests(state: opened, sourceBranches: $branch) {
          nodes {
            iid title draft state approved conflicts diffHeadSha
            diffRefs { headSha }
            author { username } reviewers { nodes { username } } assignees { edges { node { username } } }
            approvedBy { nodes { username } }
            labels { nodes { title color } }
            headPipeline { status }
            pipelines { nodes { id } }
          }
        }
      }
    }`
    const made = await merge.request(
      { 'b.txt': 'x\n' },
      { labels: 'bug', reviewer_ids: [merge.maintainer.id], assignee_ids: [merge.developer.id] },
    )
    expectStatus(await merge.maintainer.post(`${merge.one(made['iid'] as number)}/approve`), 201)
    const asked = { path: merge.fullPath, branch: [made['source_branch'] as string] }
    const { project } = await data(merge.developer, query, asked)
    expect(project).toEqual({
      mergeRequests: {
        nodes: [
          {
            iid: String(made['iid']),
            title: 'Change',
            draft: false,
            state: 'opened',
            approved: true,
            conflicts: false,
            diffHeadSha: made['sha'] as string,
            diffRefs: { headSha: made['sha'] as string },
            author: { username: merge.developer.username },
            reviewers: { nodes: [{ username: merge.maintainer.username }] },
            assignees: { edges: [{ node: { username: merge.developer.username } }] },
            approvedBy: { nodes: [{ username: merge.maintainer.username }] },
            labels: { nodes: [{ title: 'bug', color: expect.stringMatching(/^#/) as string }] },
            headPipeline: null,
            pipelines: { nodes: [] },
          },
        ],
      },
    })
    expect(await errors(merge.developer, query, { ...asked, branch: ['a', 'b'] })).toHaveLength(1)
  })
})

describe('the schema', () => {
  test('promises nothing that is not there, whoever asks', async () => {
    const schema = buildClientSchema((await data(world.anonymous, getIntrospectionQuery())) as never)
    const leaves = (type: string): string =>
      Object.values((schema.getType(type) as GraphQLObjectType).getFields())
        .filter((field) => field.args.length === 0 && isLeafType(getNamedType(field.type)))
        .map(({ name }) => name)
        .join(' ')
    const ciFile = { '.gitlab-ci.yml': 'build: { script: [make] }' }
    const made = await merge.request(ciFile, { labels: 'bug', reviewer_ids: [merge.maintainer.id] })
    const snippet = { title: 'T', visibility: 'public', file_name: 'a', content: 'b' }
    expectStatus(await merge.developer.post(`${merge.base}/snippets`, snippet), 201)
    expectStatus(await merge.developer.post(`${merge.one(made['iid'] as number)}/notes`, { body: 'x' }), 201)
    expectStatus(await merge.developer.post(`${merge.base}/pipeline`, { ref: made['source_branch'] }), 201)
    await writeOnLine(merge.developer, 'y')

    const user = `{ ${leaves('UserCore')} }`
    const users = `{ nodes ${user} }`
    const notes = `notes { nodes { ${leaves('Note')} author ${user} resolvedBy ${user}
      position { ${leaves('DiffPosition')} diffRefs { ${leaves('DiffRefs')} } }
      userPermissions { ${leaves('NotePermissions')} } } }`
    const discussion = `discussions { nodes { ${leaves('Discussion')} resolvedBy ${user} ${notes} } }`
    const labels = `labels { nodes { ${leaves('Label')} } }`
    const jobs = `jobs { nodes { ${leaves('CiJob')} stage { name } } }`
    const pipeline = `{ ${leaves('Pipeline')} user ${user} ${jobs} }`
    const parts = [
      `${leaves('Project')} namespace { ${leaves('Namespace')} } repository { ${leaves('Repository')} }
       group { ${leaves('Group')} projects { nodes { ${leaves('Project')} } } } ${jobs}`,
      `mergeRequests { nodes { ${leaves('MergeRequest')} author ${user} mergeUser ${user} ${labels}
       diffRefs { ${leaves('DiffRefs')} } approvedBy ${users} assignees ${users} reviewers ${users}
       headPipeline ${pipeline} pipelines { nodes ${pipeline} } userPermissions { ${leaves('MergeRequestPermissions')} } } }`,
      `mergeRequests { nodes { ${discussion} } } issues { nodes { ${discussion} } }`,
      `issues { nodes { ${leaves('Issue')} author ${user} assignees ${users} ${labels}
       userPermissions { ${leaves('IssuePermissions')} } } }`,
      `snippets { nodes { ${leaves('Snippet')} author ${user} blobs { nodes { ${leaves('SnippetBlob')} } } } }
       pipelines { nodes ${pipeline} pageInfo { ${leaves('PageInfo')} } }`,
    ]
    for (const by of [world.root, merge.developer, guest, world.anonymous]) {
      for (const part of parts) {
        const found = await data(by, `query($path: ID!) { project(fullPath: $path) { ${part} } }`, {
          path: merge.fullPath,
        })
        expect(found['project']).not.toBeNull()
      }
      await data(by, `query($name: String) { user(username: $name) ${user} currentUser ${user} }`, {
        name: guest.username,
      })
    }
  })
})

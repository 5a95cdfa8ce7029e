import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { statementChannel, type SentStatement } from '../../src/kernel/log/index.ts'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
/** Where the texts are. */
let project: Made
let here: string
let place: string
let reporter: Person
let guest: Person
let stranger: Person
let sha: string

beforeAll(async () => {
  world = await startWorld()
  group = await world.group()
  project = await world.project({ namespace_id: group.id })
  here = project.path_with_namespace
  place = `/projects/${project.id}`
  reporter = await world.member({ group }, 'reporter')
  guest = await world.member({ group }, 'guest')
  stranger = await world.user()
  await pushFiles(world, project, { 'README.md': 'x' })
  const commits = await world.root.get(`${place}/repository/commits`)
  sha = (commits.body as { id: string }[])[0]!.id
})
afterAll(() => world[Symbol.asyncDispose]())

const made = async (path: string, fields: Json): Promise<Json> =>
  expectStatus(await world.root.post(path, fields), 201)
const render = async (text: string, by: Person = reporter, inProject: Made | null = project) => {
  const more = inProject === null ? {} : { project: inProject.path_with_namespace }
  const reply = await by.post('/markdown', { text, gfm: true, ...more })
  return (expectStatus(reply, 201) as { html: string }).html
}
/** What is linked, with the text of each link. */
const links = (html: string): string[] =>
  [...html.matchAll(/<a href="([^"]*)" class="gfm[^>]*>([^<]*)<\/a>/g)].map(
    ([, href, text]) => `${text} -> ${href!.replaceAll('&#x26;', '&').replace(`${world.url}/`, '')}`,
  )

test('everything that has a sign leads to itself, in its own project, beside it, elsewhere and by its address', async () => {
  const beside = await world.project({ namespace_id: group.id, path: 'beside' })
  const { issue, request, snippet, epic, milestone, shared } = await fill()
  const there = `/projects/${beside.id}`
  await made(`${there}/issues`, { title: 'Beside' })
  await made(`${there}/labels`, { name: 'theirs', color: '#ff0000' })
  const at = `${here}/-`
  const groups = `groups/${group.full_path}/-`
  const cases: [string, string][] = [
    [`#${issue}`, `#${issue} -> ${at}/issues/${issue}`],
    [`!${request}`, `!${request} -> ${at}/merge_requests/${request}`],
    [`$${snippet}`, `$${snippet} -> ${at}/snippets/${snippet}`],
    [`&${epic}`, `&#x26;${epic} -> ${groups}/epics/${epic}`],
    [`${group.full_path}&${epic}`, `&#x26;${epic} -> ${groups}/epics/${epic}`],
    ['~bug', `bug -> ${at}/issues?label_name=bug`],
    ['~"two words"', `two words -> ${at}/issues?label_name=two%20words`],
    ['~shared', `shared -> ${at}/issues?label_name=shared`],
    [`~${shared}`, `shared -> ${at}/issues?label_name=shared`],
    [`%${milestone}`, `%v1.0 -> ${at}/milestones/${milestone}`],
    ['%v1.0', `%v1.0 -> ${at}/milestones/${milestone}`],
    ['%"next year"', `%next year -> ${groups}/milestones/1`],
    [sha.slice(0, 10), `${sha.slice(0, 8)} -> ${at}/commit/${sha}`],
    ['beside#1', `beside#1 -> ${beside.path_with_namespace}/-/issues/1`],
    [`${beside.path_with_namespace}#1`, `beside#1 -> ${beside.path_with_namespace}/-/issues/1`],
    [
      `${beside.path_with_namespace}~theirs`,
      `theirs in beside -> ${beside.path_with_namespace}/-/issues?label_name=theirs`,
    ],
    [`${here}#${issue}`, `#${issue} -> ${at}/issues/${issue}`],
    [`${here}@${sha}`, `${sha.slice(0, 8)} -> ${at}/commit/${sha}`],
    [`${world.url}/${at}/issues/${issue}`, `#${issue} -> ${at}/issues/${issue}`],
    [
      `${world.url}/${at}/merge_requests/${request}#note_7`,
      `!${request} (comment 7) -> ${at}/merge_requests/${request}#note_7`,
    ],
    [`${world.url}/${groups}/epics/${epic}`, `&#x26;${epic} -> ${groups}/epics/${epic}`],
    [`${world.url}/${groups}/milestones/1`, `%next year -> ${groups}/milestones/1`],
    [`${world.url}/${at}/commit/${sha}`, `${sha.slice(0, 8)} -> ${at}/commit/${sha}`],
    [`[so](${world.url}/${at}/issues/${issue})`, `so -> ${at}/issues/${issue}`],
  ]
  const html = await render(cases.map(([text]) => text).join('\n\n'))
  expect(links(html)).toEqual(cases.map(([, link]) => link))
  // Elsewhere the same are written with where they are.
  const elsewhere = await world.project({ visibility: 'public' })
  expect(links(await render(`${here}#${issue} ${here}!${request}`, reporter, elsewhere))).toEqual([
    `${here}#${issue} -> ${at}/issues/${issue}`,
    `${here}!${request} -> ${at}/merge_requests/${request}`,
  ])
  expect(links(await render(`${here}#${issue} #${issue}`, reporter, null))).toEqual([
    `${here}#${issue} -> ${at}/issues/${issue}`,
  ])
  const unknown = [
    '#999',
    '!999',
    '$999',
    '&999',
    '~nothing',
    '%nothing',
    'deadbeef00',
    'no/where#1',
    '@nobody-x',
  ]
  expect(links(await render(unknown.join(' ')))).toEqual([])
  const escaped = await render(`\\#${issue} \\!${request} ${here}\\#${issue} \\~bug \\@${reporter.username}`)
  expect(links(escaped)).toEqual([])
  expect(escaped).toContain(`<span>#</span>${issue}`)
  expect(links(await render(`\`#${issue}\` <kbd>#${issue}</kbd>\n\n    #${issue}`))).toEqual([])
  const title = await render(`#${issue}`)
  expect(title).toContain('title="Broken &#x22;thing&#x22;"')
  expect(title).toContain('data-reference-type="issue"')
})

test('nobody is told of what he may not see, by a link, a title or a shorter text', async () => {
  const mine = await made(`${place}/issues`, { title: 'Secret of the house', confidential: true })
  const page = await made(`${place}/snippets`, {
    title: 'Hidden words',
    visibility: 'private',
    files: [{ file_path: 'a', content: 'b' }],
  })
  const epic = await made(`/groups/${group.id}/epics`, { title: 'Big secret', confidential: true })
  const iid = mine['iid'] as number
  const address = `${world.url}/${here}/-/issues/${iid}`
  const text = [
    `${here}#${iid}`,
    address,
    `${here}$${page['id'] as number}`,
    `${group.full_path}&${epic['iid'] as number}`,
    `${here}~bug`,
    `${here}%v1.0`,
    `${here}>`,
    `@${group.full_path}`,
    `${here}@${sha}`,
  ].join('\n\n')
  const shown = async (by: Person) => links(await render(text, by, null)).map((link) => link.split(' -> ')[0])
  expect(await shown(reporter)).toHaveLength(9)
  // A Guest of a private project: no confidential issue or epic, no code; private snippets of the project he reads.
  expect(await shown(guest)).toEqual([
    `${here}$${page['id'] as number}`,
    `bug in ${here}`,
    `%v1.0 in ${here}`,
    `${here}>`,
    `@${group.full_path}`,
  ])
  const unseen = await render(text, stranger, null)
  expect(links(unseen)).toEqual([])
  expect(unseen).not.toMatch(/[Ss]ecret|Hidden|v1\.0<\/a>/)
  // A bare address stays as long as it was: shortening it would tell that there is such an issue.
  expect(unseen).toContain(`>${address}</a>`)
  // Switched off, merge requests and issues are nobody's.
  const off = await world.project({ namespace_id: group.id, issues_access_level: 'disabled' })
  expectStatus(await world.root.put(`/projects/${off.id}`, { issues_access_level: 'enabled' }), 200)
  await made(`/projects/${off.id}/issues`, { title: 'Off' })
  expect(links(await render(`${off.path_with_namespace}#1`))).toHaveLength(1)
  expectStatus(await world.root.put(`/projects/${off.id}`, { issues_access_level: 'disabled' }), 200)
  expect(links(await render(`${off.path_with_namespace}#1`))).toEqual([])
})

test('people and groups are mentioned, projects named', async () => {
  const hidden = await world.project()
  const text = `@${reporter.username} @${group.full_path} ${here}> ${hidden.path_with_namespace}> \`@${reporter.username}\` a@${reporter.username}`
  expect(links(await render(text))).toEqual([
    `@${reporter.username} -> ${reporter.username}`,
    `@${group.full_path} -> groups/${group.full_path}`,
    `${here}> -> ${here}`,
  ])
  expect(links(await render(text, stranger, null))).toEqual([`@${reporter.username} -> ${reporter.username}`])
  const plain = expectStatus(await reporter.post('/markdown', { text, project: here }), 201)
  expect(plain['html']).not.toContain('class="gfm')
})

test('what a page shows is decided for each reader, also when it was rendered before', async () => {
  const open = await world.project({ visibility: 'public' })
  const secret = await made(`${place}/issues`, { title: 'Only inside' })
  const content = `${here}#${secret['iid'] as number}`
  await made(`/projects/${open.id}/wikis`, { title: 'p', content })
  const shown = async (by: Person) =>
    (expectStatus(await by.get(`/projects/${open.id}/wikis/p?render_html=true`), 200) as { content: string })
      .content
  for (const _ of [1, 2]) {
    expect(await shown(world.root)).toContain('title="Only inside"')
    expect(await shown(stranger)).not.toContain('<a ')
  }
  // Renamed, it is told by its new title at once.
  expectStatus(await world.root.put(`${place}/issues/${secret['iid'] as number}`, { title: 'Renamed' }), 200)
  expect(await shown(world.root)).toContain('title="Renamed"')
})

test('pages of a group refer to what is of the group', async () => {
  await made(`/groups/${group.id}/labels`, { name: 'of-all', color: '#00ff00' })
  await made(`/groups/${group.id}/epics`, { title: 'Of the group' })
  const content = `~of-all &1 ${project.path}#1 #1`
  await made(`/groups/${group.id}/wikis`, { title: 'refs', content })
  const page = await reporter.get(`/groups/${group.id}/wikis/refs?render_html=true`)
  const at = `groups/${group.full_path}/-`
  expect(links((page.body as { content: string }).content)).toEqual([
    `of-all -> ${at}/issues?label_name=of-all`,
    `&#x26;1 -> ${at}/epics/1`,
    `${project.path}#1 -> ${here}/-/issues/1`,
  ])
})

test('a text of a thousand references asks the database once', async () => {
  const text = Array.from({ length: 300 }, (_, n) => `#${n} !${n} ~l${n} ${here}#${n} @user-${n}`).join('\n')
  const heard: string[] = []
  const listen = (message: unknown): void => {
    const sent = message as SentStatement
    if (sent.requestId === 'references') heard.push(sent.text)
  }
  subscribe(statementChannel, listen)
  try {
    const headers = { 'x-request-id': 'references' }
    const reply = await reporter.post('/markdown', { text, gfm: true, project: here }, headers)
    expectStatus(reply, 201)
  } finally {
    unsubscribe(statementChannel, listen)
  }
  // Who asks, the project, and what the references mean.
  expect(heard.length).toBeLessThanOrEqual(3)
})

test('files that were uploaded to the project are shown from there', async () => {
  const form = new FormData()
  form.append('file', new Blob(['picture']), 'a b.png')
  const upload = expectStatus(await world.root.post(`${place}/uploads`, form), 201)
  const html = await render(`${upload['markdown'] as string} [file](${upload['url'] as string})`)
  const address = /<img src="([^"]*)"/.exec(html)?.[1] ?? ''
  expect(address).toBe(`${world.url}/api/v4${place}${upload['url'] as string}`)
  expect(html).toContain(`<a href="${address}">file</a>`)
  const file = await fetch(address, { headers: guest.headers })
  expect([file.status, await file.text()]).toEqual([200, 'picture'])
  expect((await fetch(address)).status).toBe(404)
})

/** One of everything in the project, and some of its group. */
async function fill() {
  const number = (thing: Json, key = 'iid'): number => thing[key] as number
  await made(`${place}/repository/commits`, {
    branch: 'feature',
    start_branch: 'main',
    commit_message: 'Mend',
    actions: [{ action: 'create', file_path: 'mended', content: 'y' }],
  })
  const issue = await made(`${place}/issues`, { title: 'Broken "thing"' })
  const request = await made(`${place}/merge_requests`, {
    title: 'Mend it',
    source_branch: 'feature',
    target_branch: 'main',
  })
  const snippet = await made(`${place}/snippets`, {
    title: 'Piece',
    visibility: 'private',
    files: [{ file_path: 'a', content: 'b' }],
  })
  const epic = await made(`/groups/${group.id}/epics`, { title: 'Large' })
  const milestone = await made(`${place}/milestones`, { title: 'v1.0' })
  await made(`/groups/${group.id}/milestones`, { title: 'next year' })
  for (const name of ['bug', 'two words']) await made(`${place}/labels`, { name, color: '#ff0000' })
  const shared = await made(`/groups/${group.id}/labels`, { name: 'shared', color: '#0000ff' })
  return {
    issue: number(issue),
    request: number(request),
    snippet: number(snippet, 'id'),
    epic: number(epic),
    milestone: number(milestone),
    shared: number(shared, 'id'),
  }
}

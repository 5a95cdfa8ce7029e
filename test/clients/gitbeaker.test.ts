import { Gitlab } from '@gitbeaker/rest'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rootToken, startWorld, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('gitbeaker makes a group, a project and a variable, and reads branches and pipelines', async () => {
  const client = new Gitlab({ host: world.url, token: rootToken })

  expect(await client.Metadata.show()).toMatchObject({ version: '17.11.0-ee' })
  expect(await client.Users.showCurrentUser()).toMatchObject({ username: 'root' })

  const group = await client.Groups.create('Beakers', 'beakers')
  const project = await client.Projects.create({
    name: 'lab',
    namespaceId: group.id,
    initializeWithReadme: true,
  })
  expect(project).toMatchObject({ path_with_namespace: 'beakers/lab', empty_repo: false })

  await client.ProjectVariables.create(project.id, 'HOST', 'db1', { environmentScope: 'prod' })
  await client.ProjectVariables.create(project.id, 'HOST', 'db2', { environmentScope: 'test' })
  expect(await client.ProjectVariables.all('beakers/lab')).toHaveLength(2)
  expect(
    await client.ProjectVariables.show(project.id, 'HOST', { filter: { environment_scope: 'test' } }),
  ).toMatchObject({ value: 'db2' })
  await expect(client.ProjectVariables.show(project.id, 'HOST')).rejects.toThrow(/multiple variables/)

  expect(await client.Branches.all(project.id)).toMatchObject([
    { name: 'main', default: true, protected: true },
  ])
  expect(await client.ProtectedBranches.all(project.id)).toMatchObject([{ name: 'main' }])
  expect(await client.Commits.all(project.id)).toHaveLength(1)
  expect(await client.RepositoryFiles.showRaw(project.id, 'README.md', 'main')).toContain('lab')

  // Without a configuration there is no pipeline to create; the list is empty but served.
  await expect(client.Pipelines.create(project.id, 'main')).rejects.toThrow(/Missing CI config file/)
  expect(await client.Pipelines.all(project.id)).toEqual([])

  const pages = await client.Projects.all({ membership: true, perPage: 1, maxPages: 3, showExpanded: true })
  expect(pages.paginationInfo).toMatchObject({ current: 1, perPage: 1 })
  await client.Projects.remove(project.id)
})

test('gitbeaker writes pages of a wiki, with attachments, and begins files from templates', async () => {
  const client = new Gitlab({ host: world.url, token: rootToken })
  const { id: group } = await client.Groups.create('Writers', 'writers')
  const { id } = await client.Projects.create({ name: 'lab', namespaceId: group })
  for (const [wiki, place] of [
    [client.ProjectWikis, id],
    [client.GroupWikis, group],
  ] as const) {
    await wiki.create(place, '# Steps', 'docs/Release guide')
    expect(await wiki.show(place, 'docs/Release-guide', { renderHtml: true })).toMatchObject({
      content: '<h1 id="user-content-steps">Steps</h1>\n',
      format: 'markdown',
    })
    await wiki.edit(place, 'docs/Release-guide', { content: '# Fewer' })
    await wiki.edit(place, 'docs/Release-guide', { title: 'Guide' })
    expect(await wiki.all(place, { withContent: true })).toMatchObject([
      { slug: 'docs/Guide', content: '# Fewer' },
    ])
    const file = { content: new Blob(['x']), filename: 'plan.png' }
    expect(await wiki.uploadAttachment(place, file)).toMatchObject({ file_name: 'plan.png', branch: 'main' })
    await wiki.remove(place, 'docs/Guide')
    expect(await wiki.all(place)).toEqual([])
  }
  expect(await client.GitignoreTemplates.show('Node')).toMatchObject({ name: 'Node' })
  expect(await client.ProjectTemplates.all(id, 'gitignores')).toContainEqual({ key: 'Node', name: 'Node' })
})

test('gitbeaker makes, approves and merges a merge request', async () => {
  const client = new Gitlab({ host: world.url, token: rootToken })
  const group = await client.Groups.create('Mergers', 'mergers')
  const { id } = await client.Projects.create({
    name: 'lab',
    namespaceId: group.id,
    initializeWithReadme: true,
  })
  await client.Commits.create(id, 'work', 'Work', [{ action: 'create', filePath: 'w.txt', content: 'w' }], {
    startBranch: 'main',
  })
  const made = await client.MergeRequests.create(id, 'work', 'main', 'Draft: Work')
  expect(made).toMatchObject({ iid: 1, detailed_merge_status: 'draft_status' })
  expect(await client.MergeRequests.edit(id, 1, { title: 'Work', squash: true })).toMatchObject({
    draft: false,
  })
  expect(await client.MergeRequests.all({ projectId: id, state: 'opened' })).toHaveLength(1)
  expect(await client.MergeRequests.allCommits(id, 1)).toHaveLength(1)
  expect(await client.MergeRequests.allDiffs(id, 1)).toMatchObject([{ new_path: 'w.txt' }])
  expect(await client.MergeRequests.allDiffVersions(id, 1)).toHaveLength(1)
  expect(await client.MergeRequestApprovals.showConfiguration(id, { mergerequestIId: 1 })).toMatchObject({
    approved: true,
  })
  expect(await client.MergeRequests.merge(id, 1, { shouldRemoveSourceBranch: true })).toMatchObject({
    state: 'merged',
  })
})

// @module-tag long
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during, set } from '../settings/effects.ts'
import { bombOf, tarOf } from '../world/archives.ts'
import type { Person, Reply } from '../world/client.ts'
import { eventually } from '../world/merge-project.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
beforeAll(async () => {
  world = await startWorld()
  await world.service.services.settings.change({ import_sources: ['export_file'] })
  project = await world.project({ description: 'Of the first house', topics: ['one'] })
  await pushFiles(world, project, { 'README.md': '# Hello\n' })
})
afterAll(() => world[Symbol.asyncDispose]())

/** The archive of a project, made and fetched. */
async function archiveOf(of: Json, fields: Json = {}): Promise<Buffer> {
  const path = `/projects/${of['id'] as number}/export`
  expectStatus(await world.root.post(path, fields), 202)
  const status = await eventually(async () => {
    const { body } = await world.root.get(path)
    return ['finished', 'failed'].includes((body as Json)['export_status'] as string) && (body as Json)
  })
  expect(status['export_status']).toBe('finished')
  const answer = await fetch((status['_links'] as Json)['api_url'] as string, { headers: world.root.headers })
  expect(answer.headers.get('content-disposition')).toContain(`${of['path'] as string}_export.tar.gz`)
  return Buffer.from(await answer.arrayBuffer())
}

function send(archive: Buffer, fields: Json = {}, who: Person = world.root): Promise<Reply> {
  const form = new FormData()
  form.set('path', world.unique('imported'))
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value))
  form.set('file', new Blob([new Uint8Array(archive)]), 'archive.tar.gz')
  return who.post('/projects/import', form)
}

async function ended(made: Json, who: Person = world.root): Promise<Json> {
  return eventually(async () => {
    const { body } = await who.get(`/projects/${made['id'] as number}/import`)
    return ['finished', 'failed'].includes((body as Json)['import_status'] as string) && (body as Json)
  })
}

async function imported(archive: Buffer, fields: Json = {}, who: Person = world.root): Promise<Json> {
  return ended(expectStatus(await send(archive, fields, who), 201), who)
}

/** A pack of git without objects, which is whole. */
function emptyPack(): Buffer {
  const head = Buffer.from([...Buffer.from('PACK'), 0, 0, 0, 2, 0, 0, 0, 0])
  return Buffer.concat([head, createHash('sha1').update(head).digest()])
}

describe('an archive', () => {
  const issueOf = async (who: Person, id: number, iid: number) =>
    expectStatus(await who.get(`/projects/${id}/issues/${iid}`), 200)

  test('brings a project back: code, wiki, labels, milestones, issues and what was said, protected branches', async () => {
    const path = `/projects/${project.id}`
    const author = await world.member({ project }, 'developer')
    await world.root.post(`${path}/labels`, { name: 'bug', color: '#ff0000', priority: 3 })
    const milestone = expectStatus(
      await world.root.post(`${path}/milestones`, { title: 'First', due_date: '2030-01-02' }),
      201,
    )
    for (const title of ['One', 'Two']) await author.post(`${path}/issues`, { title, labels: 'bug' })
    await world.root.put(`${path}/issues/2`, {
      milestone_id: milestone['id'] as number,
      assignee_ids: [author.id],
      confidential: true,
      state_event: 'close',
    })
    const thread = expectStatus(
      await author.post(`${path}/issues/2/discussions`, { body: 'A question' }),
      201,
    )
    await world.root.post(`${path}/issues/2/discussions/${thread['id'] as string}/notes`, {
      body: 'An answer',
    })
    await world.root.post(`${path}/wikis`, { title: 'Home', content: 'Of the wiki' })
    await world.root.post(`${path}/protected_branches`, { name: 'release/*', push_access_level: 0 })

    const archive = await archiveOf(project)
    const made = await imported(archive, { name: 'Brought back' })
    expect(made).toMatchObject({ import_status: 'finished', import_error: null, failed_relations: [] })
    expect(made['stats']).toMatchObject({
      fetched: { issues: 2, labels: 1, milestones: 1 },
      imported: { issues: 2, labels: 1, milestones: 1 },
    })
    const id = made['id'] as number
    const again = `/projects/${id}`
    expect((await world.root.get(again)).body).toMatchObject({
      name: 'Brought back',
      description: 'Of the first house',
      topics: ['one'],
      import_status: 'finished',
      default_branch: 'main',
    })
    expect((await world.root.get(`${again}/repository/files/README.md/raw?ref=main`)).text).toBe('# Hello\n')
    expect((await world.root.get(`${again}/wikis/Home`)).body).toMatchObject({ content: 'Of the wiki' })
    expect((await world.root.get(`${again}/labels`)).body).toMatchObject([{ name: 'bug', priority: 3 }])
    const issue = await issueOf(world.root, id, 2)
    expect(issue).toMatchObject({
      title: 'Two',
      state: 'closed',
      confidential: true,
      labels: ['bug'],
      milestone: { title: 'First', due_date: '2030-01-02' },
      author: { username: author.username },
      assignees: [{ username: author.username }],
      user_notes_count: 2,
    })
    const discussions = (await world.root.get(`${again}/issues/2/discussions`)).body as Json[]
    expect(discussions.filter(({ individual_note: alone }) => alone === false)).toMatchObject([
      { notes: [{ body: 'A question', author: { username: author.username } }, { body: 'An answer' }] },
    ])
    const branches = (await world.root.get(`${again}/protected_branches`)).body as Json[]
    expect(branches.map(({ name }) => name as string).toSorted()).toEqual(['main', 'release/*'])
    // Numbers go on where they were, and nothing has run.
    expect(expectStatus(await world.root.post(`${again}/issues`, { title: 'Three' }), 201)['iid']).toBe(3)
    expect((await world.root.get(`${again}/pipelines`)).body).toEqual([])
  })

  test('that somebody brings who is no administrator speaks for nobody else', async () => {
    const archive = await tarOf({
      VERSION: '1.0',
      'tree/issues.ndjson': `${JSON.stringify({
        iid: 7,
        title: 'Said by root?',
        description: 'I quit.',
        state: 'opened',
        issue_type: 'issue',
        author: 'root',
        assignees: ['root'],
        created_at: '2020-01-01T00:00:00Z',
        updated_at: '2020-01-01T00:00:00Z',
        discussions: [
          {
            notes: [
              {
                author: 'root',
                body: 'Really.',
                created_at: '2020-01-01T00:00:00Z',
                updated_at: '2020-01-01T00:00:00Z',
              },
            ],
          },
        ],
      })}\n`,
    })
    const person = await world.user()
    const made = await imported(archive, {}, person)
    expect(made['import_error']).toBeNull()
    const issue = await issueOf(person, made['id'] as number, 7)
    expect(issue).toMatchObject({
      author: { username: person.username },
      assignees: [],
      description: '*Created by: root*\n\nI quit.',
    })
    const notes = (await person.get(`/projects/${made['id'] as number}/issues/7/notes`)).body as Json[]
    expect(notes).toMatchObject([
      { body: '*Created by: root*\n\nReally.', author: { username: person.username } },
    ])
  })

  test('with records that are no good brings the others, and tells of them', async () => {
    const label = (fields: Json) => JSON.stringify({ title: 'x', color: '#000000', ...fields })
    const made = await imported(
      await tarOf({
        VERSION: '1.0',
        'tree/labels.ndjson': [
          label({ title: 'good' }),
          'no JSON',
          label({ color: 'url(x)' }),
          label({ title: 5 }),
          'null',
        ].join('\n'),
      }),
    )
    expect(made['import_status']).toBe('finished')
    expect((made['failed_relations'] as Json[]).map(({ line }) => line as number)).toEqual([2, 3, 4, 5])
    const labels = (await world.root.get(`/projects/${made['id'] as number}/labels`)).body as Json[]
    expect(labels.map(({ name }) => name as string)).toEqual(['good'])
  })

  test('with merge requests whose commits are not there, or no commits at all, does without them', async () => {
    const at = '2020-01-01T00:00:00Z'
    const request = (fields: Json) =>
      JSON.stringify({
        ...{
          iid: 1,
          title: 'x',
          state: 'opened',
          source_branch: 'a',
          target_branch: 'main',
          own_source: true,
        },
        ...{ created_at: at, updated_at: at },
        ...fields,
      })
    const oid = 'a'.repeat(40)
    const made = await imported(
      await tarOf({
        VERSION: '1.0',
        'tree/merge_requests.ndjson': [
          request({ versions: [{ head: oid, start: oid, created_at: at }] }),
          request({ versions: [] }),
          request({ versions: [{ head: '--all', start: oid, created_at: at }] }),
          request({ versions: [{ head: oid, start: oid, created_at: at }], source_branch: '../x' }),
          request({ iid: -1 }),
          request({ history: { times: [{ seconds: -5, spent_at: at, created_at: at }] } }),
        ].join('\n'),
      }),
    )
    expect(made).toMatchObject({ import_status: 'finished', stats: { imported: { merge_requests: 0 } } })
    const failed = made['failed_relations'] as Json[]
    expect(failed.map(({ line }) => line as number).toSorted()).toEqual([1, 2, 3, 4, 5, 6])
    expect((await world.root.get(`/projects/${made['id'] as number}/merge_requests`)).body).toEqual([])
  })

  test('with files that are not what they are called, or too large, does without them', async () => {
    const secret = 'b'.repeat(32)
    const archive = await tarOf({
      VERSION: '1.0',
      [`uploads/${secret}/good.txt`]: 'good',
      [`uploads/${secret}/.hidden/../x`]: 'bad',
      [`uploads/${secret}/..`]: 'bad',
      [`uploads/${'c'.repeat(32)}/large.txt`]: Buffer.alloc(1024 * 1024 + 1),
      [`lfs-objects/${'a'.repeat(64)}`]: 'something else',
    })
    await during(world, { max_attachment_size: 1 }, async () => {
      const made = await imported(archive)
      expect(made).toMatchObject({
        import_status: 'finished',
        stats: { imported: { uploads: 1, lfs_objects: 0 } },
      })
      const failed = (made['failed_relations'] as Json[]).map(
        ({ relation_name: name, exception_message: text }) => `${name as string} ${text as string}`,
      )
      expect(failed).toEqual(['uploads is too large', 'lfs_objects is not what its name says'])
      const uploads = (await world.root.get(`/projects/${made['id'] as number}/uploads`)).body as Json[]
      expect(uploads.map(({ filename }) => filename as string)).toEqual(['good.txt'])
    })
  })

  test.each<[what: string, archive: () => Promise<Buffer> | Buffer, error: RegExp]>([
    ['no archive', () => Buffer.from('hello'), /not an archive/],
    ['no version', () => tarOf({ 'project.json': '{}' }), /version/],
    ['another version', () => tarOf({ VERSION: '9' }), /version/],
    [
      'a cut archive',
      async () => (await tarOf({ VERSION: '1.0', 'a.bin': Buffer.alloc(100_000, 7) })).subarray(0, 80),
      /not an archive/,
    ],
    ['no project', () => tarOf({ VERSION: '1.0', 'project.json': '[]' }), /not usable/],
    ['a link for a file', () => tarOf({ VERSION: { linkTo: '/etc/passwd' } }), /version/],
    [
      'broken commits beside its branches',
      () => tarOf({ VERSION: '1.0', 'kept.bundle': '# v2 git bundle\n' }),
      /not whole/,
    ],
    [
      'commits that are not in it',
      () => {
        const head = `# v2 git bundle\n${'a'.repeat(40)} refs/keep-around/${'a'.repeat(40)}\n\n`
        return tarOf({ VERSION: '1.0', 'kept.bundle': Buffer.concat([Buffer.from(head), emptyPack()]) })
      },
      /not whole/,
    ],
    [
      'commits under names of branches',
      () =>
        tarOf({ VERSION: '1.0', 'kept.bundle': `# v2 git bundle\n${'a'.repeat(40)} refs/heads/main\n\n` }),
      /not whole/,
    ],
    ['a broken repository', () => tarOf({ VERSION: '1.0', 'project.bundle': 'no bundle' }), /repository/],
    [
      'a repository without objects',
      () =>
        tarOf({
          VERSION: '1.0',
          'project.bundle': `# v2 git bundle\n${'1'.repeat(40)} refs/heads/main\n\nPACK`,
        }),
      /repository/,
    ],
    [
      'refs of other names',
      () =>
        tarOf({
          VERSION: '1.0',
          'project.bundle': `# v2 git bundle\n${'1'.repeat(40)} refs/keep-around/x\n\n`,
        }),
      /repository/,
    ],
  ])('with %s fails and says why', async (_, archive, error) => {
    expect(await imported(await archive())).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringMatching(error),
    })
  })

  test('writes nothing but what it knows: other names, upwards or absolute, are passed over', async () => {
    const made = await imported(
      await tarOf({
        '../../evil': 'x',
        '/tmp/evil-of-an-archive': 'x',
        VERSION: '1.0',
        'tree/../VERSION': '9',
      }),
    )
    expect(made['import_status']).toBe('finished')
  })

  test('goes where the caller may make projects, under a path that is free', async () => {
    const archive = await tarOf({ VERSION: '1.0' })
    const group = await world.group()
    const stranger = await world.user()
    const { path } = await imported(archive, { namespace: group.full_path })
    const taken = await send(archive, { namespace_id: group.id, path: path as string })
    expect([taken.status, taken.body]).toEqual([400, { message: 'Path has already been taken' }])
    expect((await send(archive, { namespace: 'no/such-group' })).body).toEqual({
      message: 'Namespace is not valid',
    })
    expect((await send(archive, { namespace_id: group.id }, stranger)).status).toBe(400)
    expect((await send(archive, { namespace_id: 'x' })).status).toBe(400)
    expect((await world.root.post('/projects/import', { path: 'x' })).status).toBe(400)
    expect((await world.root.get(`/projects/${project.id}/import`)).body).toMatchObject({
      import_status: 'none',
    })
  })
})

describe('settings', () => {
  test('import_sources: without archives among them none is taken', async () => {
    const archive = await tarOf({ VERSION: '1.0' })
    await during(world, { import_sources: [] }, async () => {
      expect((await send(archive)).status).toBe(403)
      expect(
        (await world.root.post('/projects/remote-import', { url: 'http://x.example', path: 'x' })).status,
      ).toBe(403)
    })
    await imported(archive)
  })

  test('project_export_enabled: without it there are no exports', async () => {
    await during(world, { project_export_enabled: false }, async () => {
      for (const path of ['export', 'export/download']) {
        expect((await world.root.get(`/projects/${project.id}/${path}`)).status).toBe(404)
      }
      expect((await world.root.post(`/projects/${project.id}/export`)).status).toBe(404)
    })
    expect((await world.root.get(`/projects/${project.id}/export`)).status).toBe(200)
  })

  test('max_export_size: a larger project is not exported', async () => {
    const large = await world.project()
    const noise = randomBytes(1_200_000).toString('base64')
    await pushFiles(world, large, { 'noise.txt': noise })
    const ask = () => world.root.post(`/projects/${large.id}/export`)
    await during(world, { max_export_size: 1 }, async () => {
      const refused = await ask()
      expect([refused.status, refused.body]).toEqual([
        400,
        { message: 'The project size exceeds the export limit.' },
      ])
      expect((await world.root.post(`/projects/${project.id}/export`)).status).toBe(202)
    })
    expect((await ask()).status).toBe(202)
  })

  test('max_import_size: a larger archive is refused', async () => {
    const archive = await tarOf({ VERSION: '1.0', 'noise.bin': randomBytes(60_000) })
    const large = Buffer.concat([archive, Buffer.alloc(1024 * 1024)])
    await during(world, { max_import_size: 1 }, async () => {
      expect((await send(large)).status).toBe(413)
      expect((await send(archive)).status).toBe(201)
    })
    expect((await send(large)).status).toBe(201)
  })

  test('max_decompressed_archive_size: one that unpacks to more fails', async () => {
    const bomb = await bombOf(3)
    const error = 'Decompressed archive size validation failed.'
    await during(world, { max_decompressed_archive_size: 2 }, async () => {
      expect(await imported(bomb)).toMatchObject({ import_status: 'failed', import_error: error })
    })
    expect((await imported(bomb))['import_error']).not.toBe(error)
  })

  test('decompress_archive_file_timeout: one that takes longer fails', async () => {
    const values = { decompress_archive_file_timeout: 1, max_decompressed_archive_size: 0 }
    await during(world, values, async () => {
      expect(await imported(await bombOf(8000))).toMatchObject({
        import_error: 'Decompressed archive size validation failed.',
      })
      // One that is unpacked in time.
      await set(world, { decompress_archive_file_timeout: 210 })
      const { import_error } = await imported(await bombOf(50))
      expect(import_error).not.toBe('Decompressed archive size validation failed.')
    })
  })

  test('max_import_remote_file_size: of an archive that lies elsewhere, told before or found out while it comes', async () => {
    const archive = await tarOf({ VERSION: '1.0', 'noise.bin': randomBytes(60_000) })
    const large = Buffer.concat([archive, Buffer.alloc(1024 * 1024)])
    const server = createServer(({ url }, answer) => {
      const content = url === '/small' ? archive : large
      if (url === '/large') answer.setHeader('content-length', content.length)
      answer.write(content)
      answer.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const at = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    const ask = (url: string) =>
      world.root.post('/projects/remote-import', { url, path: world.unique('remote') })
    try {
      // Not before the instance lets anything be fetched from here.
      expect((await ask(at('/small'))).body).toMatchObject({ message: expect.stringContaining('is blocked') })
      const values = {
        max_import_remote_file_size: 1,
        allow_local_requests_from_web_hooks_and_services: true,
      }
      await during(world, values, async () => {
        expect((await ask(at('/large'))).status).toBe(400)
        const untold = await ended(expectStatus(await ask(at('/untold')), 201))
        expect(untold).toMatchObject({ import_error: 'The file is larger than an import may be.' })
        expect(await ended(expectStatus(await ask(at('/small')), 201))).toMatchObject({
          import_status: 'finished',
        })
        await set(world, { max_import_remote_file_size: 0 })
        expect((await ask(at('/large'))).status).toBe(201)
      })
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  test.each<[setting: string, ask: (who: Person) => Promise<Reply>]>([
    ['project_import_limit', (who) => who.post('/projects/import', {})],
    ['project_export_limit', (who) => who.post(`/projects/${project.id}/export`)],
    ['project_download_export_limit', (who) => who.get(`/projects/${project.id}/export/download`)],
  ])('%s: so many a minute', async (setting, ask) => {
    const maintainer = await world.member({ project }, 'maintainer')
    await during(world, { [setting]: 1 }, async () => {
      expect((await ask(maintainer)).status).not.toBe(429)
      const refused = await ask(maintainer)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    })
    expect((await ask(maintainer)).status).not.toBe(429)
  })
})

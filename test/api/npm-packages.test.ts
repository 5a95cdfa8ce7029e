// @module-tag long
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client, type Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { npmDocument, type NpmVersion } from '../world/npm-package.ts'

let world: World
let folder: string
beforeAll(async () => {
  world = await startWorld()
  folder = await mkdtemp(path.join(tmpdir(), 'npm-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await world[Symbol.asyncDispose]()
})

const npmOf = ({ id }: { id: unknown }): string => `/projects/${id as number}/packages/npm`
const escaped = (name: string): string => name.replace('/', '%2f')

async function publish(project: Made, version: NpmVersion, by: Client = world.root): Promise<Reply> {
  return by.put(`${npmOf(project)}/${escaped(version.name)}`, await npmDocument(version))
}

const asked = async (at: string, by: Client = world.root): Promise<[number, string | null]> => {
  const { status, headers } = await by.get(at)
  return [status, headers.get('location')]
}

/** The real client, in a folder of its own that knows the registry and a token. */
async function npm(place: string, registry: string, token: string, ...args: string[]): Promise<string> {
  await mkdir(place, { recursive: true })
  await writeFile(
    path.join(place, '.npmrc'),
    `registry=${registry}/\n${registry.replace('http:', '')}/:_authToken=${token}\n`,
  )
  const { stdout } = await promisify(execFile)('npm', args, {
    cwd: place,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      npm_config_cache: `${place}.cache`,
      npm_config_update_notifier: 'false',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
    },
  })
  return stdout
}

const forwarding = async (npm_package_requests_forwarding: boolean): Promise<void> => {
  expectStatus(await world.root.put('/application/settings', { npm_package_requests_forwarding }), 200)
}

test(
  'npm publishes a package, tags it, and installs it and what it needs',
  { timeout: 180_000 },
  async () => {
    // It asks for the package before it publishes it, and is not to ask anybody else.
    await forwarding(false)
    onTestFinished(() => forwarding(true))
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const developer = await world.member({ project }, 'maintainer')
    const registry = `${world.url}/api/v4${npmOf(project)}`
    const name = `@${group.path}/app`
    expectStatus(await publish(project, { name: 'left', version: '2.1.0' }), 200)

    const source = path.join(folder, 'source')
    await mkdir(source)
    const manifest = { name, version: '1.0.0', main: 'index.js', dependencies: { left: '^2.0.0' } }
    await writeFile(path.join(source, 'package.json'), JSON.stringify(manifest))
    await writeFile(path.join(source, 'index.js'), 'module.exports = "app and " + require("left")')
    await npm(source, registry, developer.token, 'publish')
    expect(
      await npm(source, registry, developer.token, 'dist-tag', 'add', `${name}@1.0.0`, 'stable'),
    ).toContain('+stable')
    await expect(npm(source, registry, developer.token, 'publish')).rejects.toThrow(
      /previously published|403/,
    )

    const user = path.join(folder, 'user')
    await mkdir(user)
    await writeFile(path.join(user, 'package.json'), '{}')
    await npm(user, registry, developer.token, 'install', `${name}@stable`)
    const installed = path.join(user, 'node_modules')
    expect(JSON.parse(await readFile(path.join(installed, name, 'package.json'), 'utf8'))).toMatchObject({
      version: '1.0.0',
    })
    expect(await readFile(path.join(installed, 'left', 'index.js'), 'utf8')).toBe("module.exports = '2.1.0'")
    const [listed] = rowsOf(await world.root.get(`/projects/${project.id}/packages?package_name=app`))
    expect(listed).toMatchObject({
      ...{ name, version: '1.0.0', package_type: 'npm', tags: ['latest', 'stable'] },
      last_downloaded_at: expect.any(String) as string,
    })
  },
)

describe('the versions of a package', () => {
  test('are told with their tags, and the file is there under both names', async () => {
    const project = await world.project()
    const name = '@scope/tool'
    const more = { bin: { tool: 'index.js' }, scripts: { test: 'x' }, engines: { node: '>=20' } }
    expectStatus(await publish(project, { name, version: '1.0.0', more }), 200)
    expectStatus(await publish(project, { name, version: '1.1.0-rc.1', tag: 'next' }), 200)
    const told = bodyOf(await world.root.get(`${npmOf(project)}/@scope%2ftool`))
    expect(told).toMatchObject({ name, 'dist-tags': { latest: '1.0.0', next: '1.1.0-rc.1' } })
    const versions = told['versions'] as Record<string, Json>
    expect(Object.keys(versions)).toEqual(['1.0.0', '1.1.0-rc.1'])
    const { dist, ...first } = versions['1.0.0']!
    const { bin, engines } = more
    expect(first).toEqual({ name, version: '1.0.0', bin, engines })
    const sent = await npmDocument({ name, version: '1.0.0', more })
    expect(dist).toMatchObject(sent.versions['1.0.0']!.dist)
    expect(bodyOf(await world.root.get(`${npmOf(project)}/@scope/tool`))).toEqual(told)
    for (const at of [
      (dist as { tarball: string }).tarball,
      `${npmOf(project)}/@scope/tool/-/@scope/tool-1.0.0.tgz`,
      `${npmOf(project)}/@scope/tool/-/tool-1.0.0.tgz`,
    ]) {
      const file = await world.root.get(at)
      const { data } = Object.values(sent._attachments)[0]!
      expect([file.status, file.headers.get('content-length')]).toEqual([
        200,
        String(Buffer.from(data, 'base64').length),
      ])
    }
  })

  test('are led to by tags, each by one, and the highest is the latest where no tag says so', async () => {
    const project = await world.project()
    for (const version of ['1.0.0', '10.0.0', '9.0.0', '11.0.0-beta'])
      expectStatus(await publish(project, { name: 'tool', version, tag: 'edge' }), 200)
    const tags = async () =>
      bodyOf(await world.root.get(`${npmOf(project)}/tool`))['dist-tags'] as Record<string, string>
    expect(await tags()).toEqual({ edge: '11.0.0-beta', latest: '10.0.0' })
    const at = `${npmOf(project)}/-/package/tool/dist-tags`
    expect((await world.root.put(`${at}/latest`, '"1.0.0"')).status).toBe(204)
    expect(await tags()).toEqual({ edge: '11.0.0-beta', latest: '1.0.0' })
    expect((await world.root.get(at)).body).toEqual({ edge: '11.0.0-beta', latest: '1.0.0' })
    expect((await world.root.put(`${at}/latest`, '"7.0.0"')).status).toBe(404)
    expect((await world.root.put(`${at}/1.0`, '"1.0.0"')).status).toBe(400)
    expect((await world.root.put(`${at}/x`, '{}')).status).toBe(400)
    expect((await world.root.put(`${at}/x`, '{')).status).toBe(400)
    expect((await world.root.delete(`${at}/latest`)).status).toBe(204)
    expect((await world.root.delete(`${at}/latest`)).status).toBe(404)
    expect(await tags()).toEqual({ edge: '11.0.0-beta', latest: '10.0.0' })
  })

  test('may be deprecated, and that may be taken back', async () => {
    const project = await world.project()
    expectStatus(await publish(project, { name: 'tool', version: '1.0.0' }), 200)
    const reason = async (text: string): Promise<unknown> => {
      const document = { name: 'tool', versions: { '1.0.0': { name: 'tool', deprecated: text } } }
      expectStatus(await world.root.put(`${npmOf(project)}/tool`, document), 200)
      const versions = bodyOf(await world.root.get(`${npmOf(project)}/tool`))['versions'] as Json
      return (versions['1.0.0'] as Json)['deprecated']
    }
    expect(await reason('Use another one')).toBe('Use another one')
    expect(await reason('')).toBeUndefined()
  })

  test('are found in all of a group that the caller may read, and everywhere in the group of their scope', async () => {
    const group = await world.group()
    const below = await world.group({ parent_id: group.id })
    const project = await world.project({ namespace_id: below.id })
    const elsewhere = await world.project()
    const name = `@${group.path}/tool`
    expectStatus(await publish(project, { name, version: '1.0.0' }), 200)
    expectStatus(await publish(elsewhere, { name, version: '6.6.6' }), 200)
    const reporter = await world.member({ project }, 'reporter')
    const stranger = await world.user()
    const ofGroup = `/groups/${group.id}/-/packages/npm/${escaped(name)}`
    for (const at of [ofGroup, `/packages/npm/${escaped(name)}`]) {
      expect(Object.keys(bodyOf(await reporter.get(at))['versions'] as Json)).toEqual(['1.0.0'])
    }
    // The administrator may read both.
    const everywhere = bodyOf(await world.root.get(`/packages/npm/${escaped(name)}`))
    expect(Object.keys(everywhere['versions'] as Json)).toEqual(['1.0.0'])
    const forwarded = [302, `https://registry.npmjs.org/${escaped(name)}`]
    expect(await asked(ofGroup, stranger)).toEqual([404, null])
    expect(await asked(`/packages/npm/${escaped(name)}`, stranger)).toEqual(forwarded)
    expect(await asked(`/packages/npm/tool`, reporter)).toEqual([302, 'https://registry.npmjs.org/tool'])

    const token = expectStatus(
      await world.root.post(`/groups/${group.id}/deploy_tokens`, {
        ...{ name: 'd', scopes: ['read_package_registry'] },
      }),
      201,
    )
    const deploying = new Client(world.url, { 'deploy-token': token['token'] as string })
    expect((await deploying.get(ofGroup)).status).toBe(200)
    expect((await deploying.get(`/packages/npm/${escaped(name)}`)).status).toBe(200)
  })
})

test('a package that is not here is asked for at the public registry, while the instance says so', async () => {
  const project = await world.project()
  const group = await world.group()
  const places = [npmOf(project), `/groups/${group.id}/-/packages/npm`, '/packages/npm']
  const forwarded = [302, 'https://registry.npmjs.org/@types%2fnode']
  for (const place of places) expect(await asked(`${place}/@types%2fnode`)).toEqual(forwarded)
  const audit = await world.root.post(`${places[0]!}/-/npm/v1/security/advisories/bulk`, { left: ['1.0.0'] })
  expect([audit.status, audit.headers.get('location')]).toEqual([
    307,
    'https://registry.npmjs.org/-/npm/v1/security/advisories/bulk',
  ])
  await forwarding(false)
  try {
    for (const place of places) {
      expect(await asked(`${place}/@types%2fnode`)).toEqual([404, null])
      expect((await world.root.post(`${place}/-/npm/v1/security/audits/quick`, {})).status).toBe(404)
    }
  } finally {
    await forwarding(true)
  }
  for (const place of places) expect(await asked(`${place}/@types%2fnode`)).toEqual(forwarded)
})

describe('a publication is refused', () => {
  type Document = Awaited<ReturnType<typeof npmDocument>>
  const attachment = (document: Document): { data: string } => Object.values(document._attachments)[0]!

  test.for<[string, (document: Document) => unknown, RegExp]>([
    ['of another name', (document) => ({ ...document, name: 'other' }), /name is not/],
    ['of no version', (document) => ({ ...document, versions: {} }), /one entry/],
    ['of a version that is none', (document) => ({ ...document, versions: { x: {} } }), /version is invalid/],
    ['of versions that are no object', (document) => ({ ...document, versions: [] }), /versions is invalid/],
    [
      'with a tag that looks like a version',
      (d) => ({ ...d, 'dist-tags': { 1: '1.0.0' } }),
      /tag is invalid/,
    ],
    [
      'with a wrong digest',
      (document) => {
        document.versions['1.0.0']!.dist.shasum = '0'.repeat(40)
        return document
      },
      /dist\.shasum/,
    ],
    [
      'with another wrong digest',
      (document) => {
        document.versions['1.0.0']!.dist.integrity = 'sha512-AAAA'
        return document
      },
      /dist\.integrity/,
    ],
    [
      'with a broken tarball',
      (document) => {
        const { name, version } = document.versions['1.0.0']!
        attachment(document).data = Buffer.from('no archive').toString('base64')
        return { ...document, versions: { [version]: { name, version } } }
      },
      /archive is broken/,
    ],
    [
      'with a tarball that is not Base64',
      (document) => {
        attachment(document).data = 'a"b'
        return document
      },
      /Base64/,
    ],
    [
      'with the tarball of another package',
      async (document) => {
        const { _attachments } = await npmDocument({ name: 'other', version: '1.0.0' })
        return { ...document, versions: { '1.0.0': {} }, _attachments }
      },
      /another package/,
    ],
    ['without a tarball', (document) => ({ ...document, _attachments: {} }), /no tarball/],
    ['as something else than JSON', () => 'nonsense', /Invalid JSON/],
    ['as JSON that ends too soon', (document) => JSON.stringify(document).slice(0, -10), /Invalid JSON/],
    ['as JSON that ends in the tarball', (document) => JSON.stringify(document).slice(0, -60), /broke off/],
  ])('%s', async ([, change, fault]) => {
    const project = await world.project()
    const document = await change(await npmDocument({ name: 'tool', version: '1.0.0' }))
    const reply = await world.root.put(`${npmOf(project)}/tool`, document)
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(fault)])
    expect(rowsOf(await world.root.get(`/projects/${project.id}/packages`))).toEqual([])
  })

  test.for(['..%2fx', 'Upper', 'a b', '@s%2fa%2fb', 'x'.repeat(215)])('of the name %s', async (name) => {
    const project = await world.project()
    const document = await npmDocument({ name: 'tool', version: '1.0.0' })
    expect((await world.root.put(`${npmOf(project)}/${name}`, document)).status).toBe(400)
  })

  test('of a version that is there, and of a tarball that is too large', async () => {
    const project = await world.project()
    expectStatus(await publish(project, { name: 'tool', version: '1.0.0' }), 200)
    const again = await publish(project, { name: 'tool', version: '1.0.0' })
    expect([again.status, again.body]).toEqual([403, { message: '403 Forbidden - Package already exists.' }])
    const limits = '/application/plan_limits?plan_name=default'
    expectStatus(await world.root.put(limits, { npm_max_file_size: 10 }), 200)
    try {
      const large = await publish(project, { name: 'tool', version: '1.0.1' })
      expect([large.status, large.body]).toEqual([400, { message: '400 Bad request - File is too large' }])
    } finally {
      expectStatus(await world.root.put(limits, { npm_max_file_size: 524_288_000 }), 200)
    }
    expectStatus(await publish(project, { name: 'tool', version: '1.0.1' }), 200)
  })
})

// @module-tag long
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client, type Reply } from '../world/client.ts'
import { chartForm, formWith, nugetForm, pythonForm, wheel, zipped } from '../world/packages.ts'
import { tarball } from '../world/tarballs.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const packagesOf = ({ id }: { id: unknown }): string => `/projects/${id as number}/packages`
const digest = (algorithm: string, content: Buffer | string): string =>
  createHash(algorithm).update(content).digest('hex')
const setting = (change: Json): Promise<unknown> =>
  world.root.put('/application/settings', change).then((reply) => expectStatus(reply, 200))
const asked = async (at: string, by: Client = world.root): Promise<[number, string | null]> => {
  const { status, headers } = await by.get(at)
  return [status, headers.get('location')]
}
const run = promisify(execFile)
const hasPip = await run('python3', ['-m', 'pip', '--version']).then(
  () => true,
  () => false,
)

/** Asks while the switch is on, off and on again. */
async function switched(name: string, at: readonly string[], location: string): Promise<void> {
  const all = () => Promise.all(at.map((one) => asked(one)))
  const forwarded = at.map(() => [302, location])
  expect(await all()).toEqual(forwarded)
  await setting({ [name]: false })
  try {
    expect(await all()).toEqual(at.map(() => [404, null]))
  } finally {
    await setting({ [name]: true })
  }
  expect(await all()).toEqual(forwarded)
}

/** Publishes with a limit of ten bytes, and without one. */
async function limited(name: string, publish: () => Promise<Reply>): Promise<void> {
  const limits = '/application/plan_limits?plan_name=default'
  const before = bodyOf(await world.root.get(limits))[name]
  expectStatus(await world.root.put(limits, { [name]: 10 }), 200)
  try {
    const reply = await publish()
    expect([reply.status, reply.body]).toEqual([400, { message: '400 Bad request - File is too large' }])
  } finally {
    expectStatus(await world.root.put(limits, { [name]: before }), 200)
  }
  expectStatus(await publish(), 201)
}

describe('a Python package', () => {
  const publish = (project: Made, form: FormData): Promise<Reply> =>
    world.root.post(`${packagesOf(project)}/pypi`, form)

  test('is listed and fetched as pip does, from its project and its group', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const content = await wheel('my_tool', '1.0.0')
    const digests = { sha256_digest: digest('sha256', content), md5_digest: digest('md5', content) }
    expectStatus(
      await publish(
        project,
        pythonForm('My_Tool', '1.0.0', content, { ...digests, requires_python: '>=3.8' }),
      ),
      201,
    )
    const places = [`${packagesOf(project)}/pypi`, `/groups/${group.id}/-/packages/pypi`]
    for (const place of places) {
      const names = await world.root.get(`${place}/simple/`)
      expect(names.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const [, list] = /<a href="([^"]+)">My_Tool<\/a>/.exec(names.text)!
      expect(list).toMatch(/\/simple\/my-tool\/$/)
      for (const name of ['my-tool', 'My.Tool', 'MY__TOOL']) {
        const { text } = await world.root.get(`${place}/simple/${name}/`)
        const [, file, needs] = /<a href="([^"]+)" data-requires-python="([^"]+)">/.exec(text)!
        expect(needs).toBe('&gt;=3.8')
        const [address, fragment] = file!.split('#')
        expect(fragment).toBe(`sha256=${digests.sha256_digest}`)
        const got = await fetch(address!, { headers: world.root.headers })
        expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true)
      }
      expect((await world.anonymous.get(`${place}/simple/my-tool`)).status).toBe(404)
    }
  })

  test.skipIf(!hasPip)('is installed by pip', { timeout: 180_000 }, async () => {
    const project = await world.project()
    const developer = await world.member({ project }, 'developer')
    expectStatus(await publish(project, pythonForm('greeter', '1.2.0', await wheel('greeter', '1.2.0'))), 201)
    const folder = await mkdtemp(path.join(tmpdir(), 'pip-'))
    const index = `${world.url}/api/v4${packagesOf(project)}/pypi/simple`.replace(
      '://',
      `://x:${developer.token}@`,
    )
    const options = ['--isolated', '--no-cache-dir', '--disable-pip-version-check', '--target', folder]
    try {
      const args = ['-m', 'pip', 'install', '-q', ...options, '--index-url', index, 'greeter==1.2.0']
      await run('python3', args, { env: { ...process.env, no_proxy: '*', NO_PROXY: '*' } })
      expect(await readFile(path.join(folder, 'greeter', '__init__.py'), 'utf8')).toContain('"1.2.0"')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('that is not here is asked for at the public index, while the instance says so', async () => {
    const project = await world.project()
    const group = await world.group()
    await switched(
      'pypi_package_requests_forwarding',
      [`${packagesOf(project)}/pypi/simple/No.Such`, `/groups/${group.id}/-/packages/pypi/simple/no_such/`],
      'https://pypi.org/simple/no-such/',
    )
    expect((await world.root.get(`${packagesOf(project)}/pypi/simple/..%2fx`)).status).toBe(404)
  })

  test.for<[string, () => FormData, RegExp]>([
    ['of no name', () => pythonForm('', '1', 'x'), /name is invalid/],
    ['of a name with slashes', () => pythonForm('../x', '1', 'x'), /name is invalid/],
    ['of a version that is none', () => pythonForm('tool', 'one', 'x'), /version is invalid/],
    ['with a wrong digest', () => pythonForm('tool', '1', 'x', { sha256_digest: 'a' }), /sha256_digest/],
    ['with a NUL', () => pythonForm('tool', '1', 'x', { requires_python: '\0' }), /cannot be kept|invalid/],
    ['with another wrong digest', () => pythonForm('tool', '1', 'x', { md5_digest: 'a' }), /md5_digest/],
    ['of another kind of file', () => formWith('content', 'x.exe', 'x', { name: 'a', version: '1' }), /file/],
    [
      'without a file',
      () => formWith('other', 'x.whl', 'x', { name: 'a', version: '1' }),
      /content is missing/,
    ],
  ])('is refused %s', async ([, form, fault]) => {
    const project = await world.project()
    const reply = await publish(project, form())
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(fault)])
    expect((await world.root.post(`${packagesOf(project)}/pypi`, 'x')).status).toBe(400)
    expect(rowsOf(await world.root.get(packagesOf(project)))).toEqual([])
  })

  test('is refused a second time, and beyond the limit', async () => {
    const project = await world.project()
    await limited('pypi_max_file_size', () => publish(project, pythonForm('tool', '1.0', 'x'.repeat(11))))
    const again = await publish(project, pythonForm('tool', '1.0', 'other'))
    expect([again.status, again.body]).toEqual([
      400,
      { message: 'Validation failed: File name has already been taken' },
    ])
  })
})

describe('a Maven package', () => {
  const jar = 'com/acme/app/1.0/app-1.0.jar'
  const fileOf = (project: Made, file = jar): string => `${packagesOf(project)}/maven/${file}`

  test('is published with its digests and fetched from project, group and instance', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const content = randomBytes(100_000)
    const own = `${project.path_with_namespace}/1.0/app-1.0.jar`
    for (const file of [jar, own]) {
      expectStatus(await world.root.put(fileOf(project, file), content), 201)
      for (const algorithm of ['md5', 'sha1', 'sha256', 'sha512']) {
        expectStatus(
          await world.root.put(fileOf(project, `${file}.${algorithm}`), digest(algorithm, content)),
          201,
        )
      }
    }
    expect((await world.root.put(fileOf(project, `${jar}.sha1`), digest('sha1', 'other'))).status).toBe(409)
    expect((await world.root.put(fileOf(project, 'com/acme/app/2.0/app-2.0.jar.sha1'), 'x')).status).toBe(404)
    for (const place of [
      fileOf(project),
      `/groups/${group.id}/-/packages/maven/${jar}`,
      `/packages/maven/${own}`,
    ]) {
      const got = await fetch(`${world.url}/api/v4${place}`, { headers: world.root.headers })
      expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true)
      for (const algorithm of ['md5', 'sha1', 'sha256', 'sha512']) {
        expect((await world.root.get(`${place}.${algorithm}`)).text).toBe(digest(algorithm, content))
      }
    }
    // Everywhere a name counts only in the project that has it.
    expect((await asked(`/packages/maven/${jar}`))[0]).toBe(302)
    expect((await asked(`/packages/maven/${own}`, await world.user()))[0]).toBe(302)
    const [listed] = rowsOf(await world.root.get(`${packagesOf(project)}?package_name=com/acme`))
    expect(listed).toMatchObject({ name: 'com/acme/app', version: '1.0', package_type: 'maven' })
  })

  test('has metadata of all versions and of the builds of a snapshot, of which the newest counts', async () => {
    const project = await world.project()
    const files = ['com/acme/app/maven-metadata.xml', 'com/acme/app/1-SNAPSHOT/maven-metadata.xml']
    for (const text of ['<old/>', '<new/>'])
      for (const file of files)
        expectStatus(await world.root.put(fileOf(project, file), `${text}${file}`), 201)
    for (const file of files) {
      expect((await world.root.get(fileOf(project, file))).text).toBe(`<new/>${file}`)
      expect((await world.root.get(fileOf(project, `${file}.sha1`))).text).toBe(
        digest('sha1', `<new/>${file}`),
      )
    }
    const versions = async (query: string): Promise<unknown[]> =>
      rowsOf(await world.root.get(`${packagesOf(project)}?${query}`)).map(({ version }) => version as unknown)
    expect(await versions('')).toEqual(['1-SNAPSHOT'])
    expect(await versions('include_versionless=true')).toEqual([null, '1-SNAPSHOT'])
  })

  test('that is not here is asked for at the central repository, while the instance says so', async () => {
    const project = await world.project()
    const group = await world.group()
    const file = 'org/slf4j/slf4j-api/2.0/slf4j-api-2.0.jar'
    await switched(
      'maven_package_requests_forwarding',
      [fileOf(project, file), `/groups/${group.id}/-/packages/maven/${file}`, `/packages/maven/${file}`],
      `https://repo.maven.apache.org/maven2/${file}`,
    )
    const below = fileOf(project, file.replace('jar', 'pom'))
    expect((await world.root.get(below)).headers.get('location')).toMatch(/\.pom$/)
  })

  test.for([
    'a/b',
    'a/../b/1/c.jar',
    'a/b/..%2f/c.jar',
    'a/b%20c/1/d.jar',
    'a//1/d.jar',
    `a/b/1/${'x'.repeat(256)}`,
  ])('is refused as %s', async (file) => {
    const project = await world.project()
    // `fetch` would take the dots out.
    const at = fileOf(project, file.replaceAll('/../', '/%2e%2e%2f'))
    expect((await world.root.put(at, 'x')).status).toBe(400)
    expect((await world.root.get(at)).status).toBe(404)
  })

  test('is refused beyond the limit', async () => {
    const project = await world.project()
    await limited('maven_max_file_size', () => world.root.put(fileOf(project), 'x'.repeat(11)))
  })
})

describe('a Helm chart', () => {
  const publish = (project: Made, form: FormData, channel = 'stable'): Promise<Reply> =>
    world.root.post(`${packagesOf(project)}/helm/api/${channel}/charts`, form)
  const indexOf = async (project: Made, channel = 'stable') => {
    const reply = await world.root.get(`${packagesOf(project)}/helm/${channel}/index.yaml`)
    expect(reply.headers.get('content-type')).toBe('text/yaml')
    return parse(reply.text) as { entries: Record<string, Json[]>; serverInfo: Json }
  }

  test('stands in the index of its channel, from which it is fetched', async () => {
    const project = await world.project()
    expectStatus(await publish(project, await chartForm('app', '1.0.0', 'appVersion: "9"\n')), 201)
    expectStatus(await publish(project, await chartForm('constructor', '0.1.0'), 'beta'), 201)
    const { entries, serverInfo } = await indexOf(project)
    expect(serverInfo).toEqual({ contextPath: `/api/v4${packagesOf(project)}/helm` })
    expect(Object.keys(entries)).toEqual(['app'])
    const [chart] = entries['app']!
    expect(chart).toMatchObject({
      ...{ apiVersion: 'v2', name: 'app', version: '1.0.0', appVersion: '9', description: 'A chart' },
      urls: ['charts/app-1.0.0.tgz'],
    })
    const file = await fetch(`${world.url}/api/v4${packagesOf(project)}/helm/stable/charts/app-1.0.0.tgz`, {
      headers: world.root.headers,
    })
    expect(digest('sha256', Buffer.from(await file.arrayBuffer()))).toBe(chart!['digest'])
    expect((await world.root.get(`${packagesOf(project)}/helm/beta/charts/app-1.0.0.tgz`)).status).toBe(404)
    expect(Object.keys((await indexOf(project, 'beta')).entries)).toEqual(['constructor'])
  })

  test('is among the newest ones that an index lists, at most helm_max_packages_count', async () => {
    const project = await world.project()
    for (const version of ['1.0.0', '1.1.0', '1.1.0', '1.2.0'])
      expectStatus(await publish(project, await chartForm('app', version)), 201)
    const versions = async () => (await indexOf(project)).entries['app']!.map(({ version }) => version)
    expect(await versions()).toEqual(['1.2.0', '1.1.0', '1.0.0'])
    await setting({ helm_max_packages_count: 2 })
    try {
      expect(await versions()).toEqual(['1.2.0', '1.1.0'])
    } finally {
      await setting({ helm_max_packages_count: 1000 })
    }
    expect(await versions()).toHaveLength(3)
  })

  const chartYaml = async (text: string): Promise<FormData> =>
    formWith('chart', 'c.tgz', await tarball({ 'app/Chart.yaml': text }))

  test.for<[string, () => Promise<FormData> | FormData, RegExp]>([
    ['that is no archive', () => formWith('chart', 'c.tgz', 'x'), /archive is broken/],
    [
      'without a Chart.yaml',
      async () => formWith('chart', 'c.tgz', await tarball({ a: 'x' })),
      /does not tell/,
    ],
    ['whose Chart.yaml is none', () => chartYaml('a: [b'), /no YAML/],
    ['whose Chart.yaml is a list', () => chartYaml('- a'), /invalid/],
    ['with a bad name', () => chartForm('..', '1.0.0'), /name of the chart/],
    ['with a bad version', () => chartForm('app', '1'), /version of the chart/],
    ['that holds itself', () => chartForm('app', '1.0.0', 'keywords: &a [*a]\n'), /cannot be kept|no YAML/],
    ['with half a character', () => chartForm('app', '1.0.0', 'home: "\\ud800"\n'), /cannot be kept|no YAML/],
    ['of an unknown form', () => chartYaml('apiVersion: v9\nname: a\nversion: 1.0.0'), /apiVersion/],
    ['that is missing', () => formWith('other', 'c.tgz', 'x'), /chart is missing/],
  ])('is refused %s', async ([, form, fault]) => {
    const project = await world.project()
    const reply = await publish(project, await form())
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(fault)])
    expect((await publish(project, await chartForm('app', '1.0.0'), '..%2fx')).status).toBe(400)
  })

  test('is refused beyond the limit', async () => {
    const project = await world.project()
    const form = await chartForm('app', '1.0.0')
    await limited('helm_max_file_size', () => publish(project, form))
  })
})

describe('a NuGet package', () => {
  const publish = async (project: Made, form: FormData | Promise<FormData>): Promise<Reply> =>
    world.root.put(`${packagesOf(project)}/nuget`, await form)
  const dependencies = `<dependencies><group targetFramework="net8.0">
    <dependency id="Other" version="[1.0,2.0)"/></group></dependencies>`

  test('is found by its services, in its project and in its group', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    for (const version of ['1.10', '1.9.0.0', '2.0.0-Beta.1+build'])
      expectStatus(await publish(project, nugetForm('Acme.Tool', version, dependencies)), 201)
    expectStatus(await publish(project, nugetForm('Other', '1.0.0')), 201)
    for (const place of [`${packagesOf(project)}/nuget`, `/groups/${group.id}/-/packages/nuget`]) {
      const { resources } = bodyOf(await world.root.get(`${place}/index.json`)) as { resources: Json[] }
      const service = (type: string): string =>
        resources.find((one) => one['@type'] === type)!['@id'] as string
      const told = bodyOf(await world.root.get(`${service('RegistrationsBaseUrl')}/acme.tool/index.json`))
      const [page] = told['items'] as { lower: string; upper: string; items: Json[] }[]
      expect(page).toMatchObject({ lower: '1.9.0', upper: '2.0.0-beta.1', count: 3 })
      const entry = page!.items[1]!['catalogEntry'] as Json
      expect(entry).toMatchObject({
        ...{ id: 'Acme.Tool', version: '1.10.0', authors: 'Somebody', description: 'Does & is' },
        dependencyGroups: [
          { targetFramework: 'net8.0', dependencies: [{ id: 'Other', range: '[1.0,2.0)' }] },
        ],
      })
      expect(bodyOf(await world.root.get(entry['@id'] as string))).toMatchObject({ catalogEntry: entry })
      const file = await world.root.get(entry['packageContent'] as string)
      expect([file.status, file.text.slice(0, 2)]).toEqual([200, 'PK'])
      const search = async (query: string) => {
        const { totalHits, data } = bodyOf(await world.root.get(`${service('SearchQueryService')}?${query}`))
        return [totalHits, (data as Json[]).map(({ id, version }) => [id, version])]
      }
      expect(await search('q=TOOL')).toEqual([1, [['Acme.Tool', '2.0.0-beta.1']]])
      expect(await search('q=tool&prerelease=false')).toEqual([1, [['Acme.Tool', '1.10.0']]])
      expect(await search('q=&skip=1&take=1')).toEqual([2, [['Other', '1.0.0']]])
      expect(await search('q=%25')).toEqual([0, []])
      expect((await world.root.get(`${place}/metadata/none/index.json`)).status).toBe(404)
      expect((await world.root.get(`${place}/metadata/other/nonsense.json`)).status).toBe(404)
    }
    const flat = await world.root.get(`${packagesOf(project)}/nuget/download/Acme.Tool/index.json`)
    expect(flat.body).toEqual({ versions: ['1.9.0', '1.10.0', '2.0.0-beta.1'] })
  })

  test('tells addresses that are some, unless the instance does not look', async () => {
    const project = await world.project()
    const form = (version: string) => nugetForm('Tool', version, '<projectUrl>javascript:1</projectUrl>')
    const refused = async () => {
      const reply = await publish(project, form('1.0.0'))
      expect([reply.status, reply.text]).toEqual([
        400,
        expect.stringContaining('projectUrl must be a valid URL'),
      ])
    }
    await refused()
    await setting({ nuget_skip_metadata_url_validation: true })
    try {
      expectStatus(await publish(project, form('2.0.0')), 201)
    } finally {
      await setting({ nuget_skip_metadata_url_validation: false })
    }
    await refused()
    expectStatus(
      await publish(project, nugetForm('Tool', '3.0.0', '<projectUrl>https://acme.example/</projectUrl>')),
      201,
    )
  })

  test.for<[string, () => Promise<FormData> | FormData, RegExp]>([
    ['that is no archive', () => formWith('package', 'p.nupkg', 'x'), /package is broken/],
    ['without a nuspec', async () => formWith('package', 'p', await zipped({ a: 'x' })), /no nuspec/],
    [
      'whose nuspec is no XML',
      async () => formWith('package', 'p', await zipped({ 'a.nuspec': '<a' })),
      /no XML/,
    ],
    ['with a bad id', () => nugetForm('a/../b', '1.0.0'), /id of the package/],
    ['with a bad version', () => nugetForm('Tool', '1.x'), /version of the package/],
    ['with an unknown entity', () => nugetForm('Tool', '1.0.0', '<summary>&x;</summary>'), /no XML/],
    ['that is missing', () => formWith('other', 'p.nupkg', 'x'), /package is missing/],
  ])('is refused %s', async ([, form, fault]) => {
    const project = await world.project()
    const reply = await publish(project, form())
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(fault)])
  })

  test('is refused a second time, and beyond the limit', async () => {
    const project = await world.project()
    await limited('nuget_max_file_size', () => publish(project, nugetForm('Tool', '1.0.0')))
    expect((await publish(project, nugetForm('TOOL', '1.0'))).status).toBe(409)
  })
})

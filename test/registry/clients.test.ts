// @module-tag long
import { execFile, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'
import { digestOf, types } from './client.ts'

/** The clients that people use, of Debian; `.ci/run` installs them. */
const missing = ['skopeo', 'buildah'].filter((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return false
  } catch {
    return true
  }
})
if (missing.length > 0)
  console.warn(`${missing.join(' and ')} not installed: images are not pushed by real clients`)

const run = promisify(execFile)

let world: World
let project: Made
let developer: Person
let maintainer: Person
let directory: string
let registry: string

/** Runs a client with a home of its own, in a process of its own. */
async function call(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(command, args, {
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      XDG_RUNTIME_DIR: directory,
      REGISTRY_AUTH_FILE: path.join(directory, 'auth.json'),
      BUILDAH_ISOLATION: 'chroot',
      STORAGE_DRIVER: 'vfs',
    },
    maxBuffer: 16 * 1024 * 1024,
  })
  return stdout
}

const skopeo = (...args: string[]) => call('skopeo', '--insecure-policy', ...args)
const login = ({ username, token }: Person): string => `${username}:${token}`
const plain = ['--dest-tls-verify=false']

/** An image of two platforms in the layout of the OCI, written by hand: no base image is needed. */
async function writeLayout(folder: string): Promise<{ digests: string[] }> {
  const blobs = path.join(folder, 'blobs', 'sha256')
  await mkdir(blobs, { recursive: true })
  const keep = async (content: string | Buffer, mediaType: string): Promise<Json> => {
    const digest = digestOf(content)
    await writeFile(path.join(blobs, digest.slice(7)), content)
    return { mediaType, digest, size: Buffer.byteLength(content) }
  }
  const manifests: Json[] = []
  for (const architecture of ['amd64', 'arm64']) {
    const tar = await emptyTar(architecture)
    const layer = await keep(gzipSync(tar), types.layer)
    const config = await keep(
      JSON.stringify({
        architecture,
        os: 'linux',
        config: {},
        rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
      }),
      types.config,
    )
    const manifest = JSON.stringify({ schemaVersion: 2, mediaType: types.manifest, config, layers: [layer] })
    manifests.push({ ...(await keep(manifest, types.manifest)), platform: { architecture, os: 'linux' } })
  }
  const index = JSON.stringify({ schemaVersion: 2, mediaType: types.index, manifests })
  const entry = await keep(index, types.index)
  await writeFile(path.join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  await writeFile(
    path.join(folder, 'index.json'),
    JSON.stringify({
      schemaVersion: 2,
      manifests: [{ ...entry, annotations: { 'org.opencontainers.image.ref.name': 'latest' } }],
    }),
  )
  return { digests: manifests.map(({ digest }) => digest as string) }
}

/** An archive with one file, by tar itself. */
async function emptyTar(name: string): Promise<Buffer> {
  const folder = await mkdtemp(path.join(directory, 'layer-'))
  await writeFile(path.join(folder, 'platform'), name)
  const { stdout } = await run('tar', ['-C', folder, '-cf', '-', 'platform'], { encoding: 'buffer' })
  return stdout
}

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  project = await world.project()
  developer = await world.member({ project }, 'developer')
  maintainer = await world.member({ project }, 'maintainer')
  directory = await mkdtemp(path.join(tmpdir(), 'guildhall-images-'))
  registry = new URL(world.url).host
  await mkdir(path.join(directory, '.config', 'containers'), { recursive: true })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

describe.skipIf(missing.length > 0)('skopeo', () => {
  test(
    'pushes, inspects, copies, pulls and deletes an image of several platforms',
    { timeout: 120_000 },
    async () => {
      const layout = path.join(directory, 'layout')
      const { digests } = await writeLayout(layout)
      const name = `docker://${registry}/${project.path_with_namespace}`
      const creds = login(maintainer)

      await skopeo(
        'copy',
        '--all',
        ...plain,
        '--dest-creds',
        creds,
        `oci:${layout}:latest`,
        `${name}/multi:1.0`,
      )
      const raw = await skopeo(
        'inspect',
        '--raw',
        '--tls-verify=false',
        '--creds',
        creds,
        `${name}/multi:1.0`,
      )
      // The client writes the index anew; what it lists are the same images.
      const listed = (JSON.parse(raw) as Json)['manifests'] as Json[]
      expect(listed.map(({ digest }) => digest as string)).toEqual(digests)

      const both = ['--src-tls-verify=false', '--src-creds', creds, ...plain, '--dest-creds', creds]
      await skopeo('copy', '--all', ...both, `${name}/multi:1.0`, `${name}/copy:2.0`)
      const tags = JSON.parse(
        await skopeo('list-tags', '--tls-verify=false', '--creds', creds, `${name}/copy`),
      ) as Json
      expect(tags['Tags']).toEqual(['2.0'])

      const pulled = path.join(directory, 'pulled')
      await skopeo(
        'copy',
        '--all',
        '--src-tls-verify=false',
        '--src-creds',
        creds,
        `${name}/copy:2.0`,
        `oci:${pulled}:x`,
      )
      await skopeo('delete', '--tls-verify=false', '--creds', creds, `${name}/copy:2.0`)
      await expect(
        skopeo('inspect', '--raw', '--tls-verify=false', '--creds', creds, `${name}/copy:2.0`),
      ).rejects.toThrow(/manifest unknown/)
    },
  )

  test(
    'is refused on a protected path as a Developer, and passes as a Maintainer',
    { timeout: 120_000 },
    async () => {
      const layout = path.join(directory, 'protected')
      await writeLayout(layout)
      await world.root.post(`/projects/${project.id}/registry/protection/repository/rules`, {
        repository_path_pattern: `${project.path_with_namespace}/prod*`,
        minimum_access_level_for_push: 'maintainer',
        minimum_access_level_for_delete: 'maintainer',
      })
      const target = `docker://${registry}/${project.path_with_namespace}/prod:1.0`
      const push = (who: Person) =>
        skopeo('copy', '--all', ...plain, '--dest-creds', login(who), `oci:${layout}:latest`, target)
      await expect(push(developer)).rejects.toThrow(/403 \(Forbidden\)/)
      await push(maintainer)
      const remove = (who: Person) => skopeo('delete', '--tls-verify=false', '--creds', login(who), target)
      await expect(remove(developer)).rejects.toThrow()
      await remove(maintainer)
    },
  )

  test('pulls what is public without a login', { timeout: 120_000 }, async () => {
    const open = await world.project({ visibility: 'public' })
    const layout = path.join(directory, 'public')
    await writeLayout(layout)
    const name = `docker://${registry}/${open.path_with_namespace}:latest`
    await skopeo('copy', '--all', ...plain, '--dest-creds', login(world.root), `oci:${layout}:latest`, name)
    const pulled = path.join(directory, 'public-pulled')
    await skopeo('copy', '--all', '--src-tls-verify=false', '--src-no-creds', name, `oci:${pulled}:x`)
    const closed = `docker://${registry}/${project.path_with_namespace}/multi:1.0`
    await expect(skopeo('inspect', '--tls-verify=false', '--no-creds', closed)).rejects.toThrow(
      /unauthorized|authentication required|denied/,
    )
  })
})

describe.skipIf(missing.length > 0)('buildah', () => {
  test('signs in, builds an image, pushes and pulls it', { timeout: 180_000 }, async () => {
    const { username, token } = developer
    await call('buildah', 'login', '--tls-verify=false', '-u', username, '-p', token, registry)
    const folder = path.join(directory, 'build')
    await mkdir(folder)
    await writeFile(path.join(folder, 'Containerfile'), 'FROM scratch\nCOPY file /file\nLABEL of=test\n')
    await writeFile(path.join(folder, 'file'), 'content\n')
    const image = `${registry}/${project.path_with_namespace}/built:1.0`
    const storage = ['--root', path.join(directory, 'storage'), '--runroot', path.join(directory, 'run')]
    const buildah = (...args: string[]) => call('buildah', ...storage, ...args)
    await buildah('build', '--quiet', '-t', image, folder)
    await buildah('push', '--quiet', '--tls-verify=false', image)
    await buildah('rmi', '--all', '--force')
    await buildah('pull', '--quiet', '--tls-verify=false', image)
    const inspected = JSON.parse(await buildah('inspect', '--type', 'image', image)) as Json
    expect((inspected['OCIv1'] as { config: { Labels: Json } }).config.Labels['of']).toBe('test')
  })
})

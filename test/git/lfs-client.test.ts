// @module-tag long
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Made, type World } from '../world/world.ts'
import { Copies } from './copies.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'

/** The client that people use; `.ci/run` installs it. */
const missing = (() => {
  try {
    execFileSync('git-lfs', ['version'], { stdio: 'ignore' })
    return false
  } catch {
    return true
  }
})()
if (missing) console.warn('git-lfs is not installed: large files are not pushed by the real client')

let world: World
let copies: Copies
let project: Made
let developer: Person

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  project = await world.project()
  developer = await world.member({ project }, 'maintainer')
  await copies.filled(project)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

describe.skipIf(missing)('git-lfs', () => {
  const run = async (folder: string, args: string[], env: Record<string, string> = {}) => {
    const told = await copies.try(folder, args, env)
    expect(told.code, `git ${args.join(' ')}: ${told.stderr}`).toBe(0)
    return told.stdout
  }

  test.each(['HTTP', 'SSH'])(
    'pushes, clones, locks and unlocks over %s',
    { timeout: 120_000 },
    async (way) => {
      const env: Record<string, string> = {}
      if (way === 'SSH') {
        env['GIT_SSH_COMMAND'] = await sshLogin(world, copies, async (key) =>
          expectStatus(await developer.post('/user/keys', { title: 'lfs', key }), 201),
        )
      }
      const address =
        way === 'SSH' ? sshAddress(world, project.path_with_namespace) : copies.url(project, developer)
      const folder = path.join(copies.folder, world.unique('large'))
      await run(copies.folder, ['clone', '--quiet', address, folder], env)
      await run(folder, ['lfs', 'install', '--local'], env)
      await run(folder, ['lfs', 'track', '--lockable', '*.bin'], env)
      const content = randomBytes(300_000)
      const name = `${way}.bin`
      await run(folder, ['add', '.gitattributes'], env)
      await copies.commit(folder, { [name]: content })
      const branch = world.unique('large')
      await run(folder, ['push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`], env)
      const stored = await developer.get(
        `/projects/${project.id}/repository/files/${encodeURIComponent(name)}/raw?ref=${branch}`,
      )
      expect(stored.text).toContain('version https://git-lfs.github.com/spec/v1')

      const copy = path.join(copies.folder, world.unique('large'))
      const smudge = [
        '-c',
        'filter.lfs.smudge=git-lfs smudge -- %f',
        '-c',
        'filter.lfs.process=git-lfs filter-process',
        '-c',
        'filter.lfs.required=true',
      ]
      await run(copies.folder, [...smudge, 'clone', '--quiet', '--branch', branch, address, copy], env)
      expect((await readFile(path.join(copy, name))).equals(content)).toBe(true)

      await run(folder, ['lfs', 'lock', name], env)
      expect(await run(folder, ['lfs', 'locks'], env)).toContain(name)
      await run(folder, ['lfs', 'unlock', '--force', name], env)
      expect(await run(folder, ['lfs', 'locks'], env)).not.toContain(name)
    },
  )
})

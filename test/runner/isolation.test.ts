// @module-tag long
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type Json, type World } from '../world/world.ts'
import { CiProjects, until } from './ci-project.ts'

/** What a job of the built-in runner can reach of the service that started it. */
const secret = 'secret-of-the-server-43'
let world: World
let projects: CiProjects
beforeAll(async () => {
  process.env['SECRET_OF_THE_SERVER'] = secret
  world = await startWorld({ ROLES: 'web,tasks,runner', RUNNER_CONCURRENCY: '2', SHUTDOWN_TIMEOUT: '3' })
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  delete process.env['SECRET_OF_THE_SERVER']
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** Where everything runs as one user, nothing of this holds, and the runner says so. */
const asRoot = test.runIf(process.getuid?.() === 0)

async function logOf(script: string[]): Promise<{ status: string; log: string }> {
  const ci = await projects.make({ spy: { script } }, { shared_runners_enabled: true })
  const pipeline = await ci.run(world.root)
  const job = await until(
    async () =>
      (
        (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}/jobs`)).body as Json[]
      )[0]!,
    ({ status }) => ['success', 'failed'].includes(status as string),
    60_000,
  )
  const log = (await world.root.get(`/projects/${ci.id}/jobs/${job['id'] as number}/trace`)).text
  return { status: job['status'] as string, log }
}

const denied = (command: string, name: string): string =>
  `if ${command} 2>/dev/null; then echo "${name} seen"; else echo "${name} hidden"; fi`

asRoot(
  'neither the environment of the server nor what it keeps',
  async () => {
    await mkdir(path.join(world.directory, 'kept'), { mode: 0o700 })
    await writeFile(path.join(world.directory, 'kept', 'file'), secret)
    const { status, log } = await logOf([
      denied(`cat /proc/${process.pid}/environ`, 'environ'),
      denied(`ls /proc/${process.pid}/cwd /proc/${process.pid}/fd`, 'descriptors'),
      denied(`ls ${world.directory}`, 'data'),
      denied(`cat ${world.directory}/kept/file`, 'file'),
      // Everything in the data folder that can be read at all, but for the job's own folder.
      `{ find ${world.directory} -readable -type f -not -path "$(dirname "$HOME")/*" 2>/dev/null || true; } | sed 's/^/readable /'`,
      'env',
      'id -u',
    ])
    expect(status, log).toBe('success')
    for (const name of ['environ', 'descriptors', 'data', 'file']) expect(log).toContain(`\n${name} hidden\n`)
    expect(log).not.toContain('\nreadable /')
    expect(log).not.toContain(secret)
    expect(log).not.toContain('\n0\n')
  },
  90_000,
)

asRoot(
  'nor the server itself, by signal or by trace',
  async () => {
    const { status, log } = await logOf([
      denied(`kill -0 ${process.pid}`, 'signal'),
      denied(`kill -0 1`, 'init'),
      denied('test -w /etc/passwd', 'system'),
      denied('su -c true', 'root'),
      denied('sudo -n true', 'sudo'),
    ])
    expect(status, log).toBe('success')
    for (const name of ['signal', 'init', 'system', 'root', 'sudo'])
      expect(log).toContain(`\n${name} hidden\n`)
  },
  90_000,
)

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Json, World } from '../../test/world/world.ts'
import { expectStatus } from '../../test/world/world.ts'

/** The stock runner at work for one project, with its shell executor and a session server. */
export class StockRunner implements AsyncDisposable {
  readonly id: number
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #log: Buffer[] = []

  private constructor(id: number, folder: string, child: ChildProcess) {
    this.id = id
    this.#folder = folder
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (piece: Buffer) => this.#log.push(piece))
    }
  }

  /** Registers it by the command that its users give, and lets it run. */
  static async start(binary: string, world: World, project: Json): Promise<StockRunner> {
    const made = expectStatus(
      await world.root.post('/user/runners', {
        runner_type: 'project_type',
        project_id: project['id'] as number,
        tag_list: ['stock'],
        run_untagged: true,
      }),
      201,
    )
    const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-stock-runner-'))
    const config = path.join(folder, 'config.toml')
    const home = path.join(folder, 'home')
    await mkdir(home)
    const environment = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8' }
    const options = { cwd: folder, env: environment } as const
    const register = spawn(
      binary,
      [
        ...['register', '--non-interactive', '--config', config, '--url', world.url],
        ...['--token', made['token'] as string, '--executor', 'shell', '--name', 'stock'],
        ...['--builds-dir', path.join(folder, 'builds'), '--cache-dir', path.join(folder, 'cache')],
      ],
      { ...options, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const told: Buffer[] = []
    for (const stream of [register.stdout, register.stderr]) {
      stream.on('data', (piece: Buffer) => told.push(piece))
    }
    const [code] = (await once(register, 'close')) as [number | null]
    if (code !== 0) throw new Error(`the stock runner did not register:\n${Buffer.concat(told).toString()}`)
    const written = await readFile(config, 'utf8')
    await writeFile(
      config,
      written
        .replace(/^concurrent = .*/m, 'concurrent = 2')
        .replace(/^check_interval = .*/m, 'check_interval = 1')
        .replace('[session_server]', `$&\nlisten_address = "127.0.0.1:${await freePort()}"`),
    )
    const child = spawn(binary, ['run', '--config', config, '--working-directory', folder], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new StockRunner(made['id'] as number, folder, child)
  }

  /** What it has said of itself. */
  get log(): string {
    return Buffer.concat(this.#log).toString()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) {
      const closed = once(this.#child, 'close')
      this.#child.kill('SIGTERM')
      await closed
    }
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** One that nobody listens on now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

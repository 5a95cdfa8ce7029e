import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { advertiseRefs, parseProtocol, type Service } from './advertise.ts'
import { openGit, type Git } from './git.ts'
import { branchRef, type RefName } from './parse.ts'
import { flushPkt, pkt } from './pkt-line.ts'
import { receivePack, type PushResult, type ReceivePackOptions } from './receive-pack.ts'
import type { RefJournal, RefUpdate } from './ref-update.ts'
import { listRefs } from './refs.ts'
import { createRepository, type Repository } from './repository.ts'
import { Starter } from './starter.ts'
import { allowAll } from './update-refs.ts'
import { uploadPack } from './upload-pack.ts'

const execute = promisify(execFile)

/** What a developer's machine has: a git of its own, with a name, and no other configuration. */
export const clientEnvironment: Record<string, string> = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_AUTHOR_DATE: '2024-05-01T10:00:00+0200',
  GIT_COMMITTER_DATE: '2024-05-01T10:00:00+0200',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'init.defaultBranch',
  GIT_CONFIG_VALUE_0: 'main',
  GIT_CONFIG_KEY_1: 'gc.auto',
  GIT_CONFIG_VALUE_1: '0',
}

export interface Told {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** One of the process: a fork of it, which has the whole service in it, takes longer than most that git does here. */
const starter = new Starter()

/** Runs the client and tells how it went. */
export async function tryGit(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Told> {
  const client = starter.start('git', ['-C', cwd, ...args], { ...clientEnvironment, ...env })
  client.stdin.end()
  const [stdout, stderr, { code, signal }] = await Promise.all([
    text(client.stdout),
    text(client.stderr),
    client.exit,
  ])
  if (code === null) throw new Error(`git was ended by ${signal ?? 'nobody'}`)
  return { code, stdout, stderr }
}

/** Runs the client, which must succeed; its output without the last line break. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const told = await tryGit(cwd, args)
  if (told.code !== 0) throw new Error(`git ${args.join(' ')}: ${told.stderr}`)
  return told.stdout.trimEnd()
}

/** A journal that remembers, and counts the version of the refs as a database would. */
export class MemoryJournal implements RefJournal<number> {
  readonly log: { step: 'prepared' | 'applied' | 'abandoned'; updates: readonly RefUpdate[] }[] = []
  version = 0

  async prepare(updates: readonly RefUpdate[]): Promise<number> {
    return this.log.push({ step: 'prepared', updates })
  }

  async applied(_entry: number, updates: readonly RefUpdate[]): Promise<void> {
    this.log.push({ step: 'applied', updates })
    this.version++
  }

  async abandoned(): Promise<void> {
    this.log.push({ step: 'abandoned', updates: [] })
  }
}

export interface World extends AsyncDisposable {
  readonly folder: string
  readonly git: Git
  readonly repository: Repository
  readonly journal: MemoryJournal
  readonly url: string
  readonly main: RefName
  /** Change what the next pushes meet. */
  push: Partial<ReceivePackOptions>
  readonly pushes: PushResult[]
  readonly failures: unknown[]
  /** A new clone of the repository, or an empty repository that knows it as `origin`. */
  clone(name: string, ...flags: string[]): Promise<string>
  /** A commit in a working copy; the content of the file is its name by default. */
  commit(copy: string, file: string, content?: string): Promise<string>
}

export async function openWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'git-room-'))
  const room = await openGit({ durable: false })
  const repository = room.repository(join(folder, 'server.git'))
  const main = branchRef('main')!
  await createRepository(repository, { defaultBranch: main })
  const journal = new MemoryJournal()
  const server = createServer((request, response) => {
    answer(world, request, response).catch((error: unknown) => {
      world.failures.push(error)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  const url = await listen(server)
  const world: World = {
    folder,
    git: room,
    repository,
    journal,
    url: `${url}/server.git`,
    main,
    push: {},
    pushes: [],
    failures: [],
    async clone(name, ...flags) {
      await git(folder, 'clone', '--quiet', ...flags, world.url, name)
      return join(folder, name)
    },
    async commit(copy, file, content = `${file}\n`) {
      await mkdir(dirname(join(copy, file)), { recursive: true })
      await writeFile(join(copy, file), content)
      await git(copy, 'add', '-A')
      await git(copy, 'commit', '--quiet', '-m', `Add ${file}`)
      return git(copy, 'rev-parse', 'HEAD')
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await room[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return world
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function answer(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { repository, journal } = world
  const url = new URL(request.url ?? '', 'http://localhost')
  const version = parseProtocol(request.headers['git-protocol'] as string | undefined)
  const refs = () => listRefs(repository, journal.version)
  const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  if (url.pathname.endsWith('/info/refs')) {
    const service = url.searchParams.get('service') as Service
    response.writeHead(200, { 'content-type': `application/x-${service}-advertisement` })
    response.end(advertiseRefs(repository, service, { refs: await refs(), version, http: true }))
  } else if (url.pathname.endsWith('/git-upload-pack')) {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
    await uploadPack(repository, body, response, { version, statelessRpc: true, refs })
    response.end()
  } else if (url.pathname.endsWith('/git-receive-pack')) {
    response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' })
    const options = { guard: allowAll, journal, messagePrefix: 'Guildhall: ', ...world.push }
    world.pushes.push(await receivePack(repository, body, response, options))
    response.end()
  } else {
    response.writeHead(404).end()
  }
}

/** The body of a push as a client would send it: commands, then the pack of what `copy` has and the server has not. */
export async function pushBody(
  copy: string,
  updates: readonly { old: string; new: string; ref: string }[],
  capabilities = 'report-status side-band-64k',
): Promise<Buffer> {
  const lines = updates.map(({ old, new: next, ref }, index) =>
    pkt(`${old} ${next} ${ref}${index === 0 ? `\0 ${capabilities}` : ''}`),
  )
  const revs = updates.flatMap(({ old, new: next }) => (/^0+$/.test(old) ? [next] : [next, `^${old}`]))
  const packing = execute('git', ['pack-objects', '--stdout', '--revs', '-q'], {
    cwd: copy,
    env: clientEnvironment,
    encoding: 'buffer',
    maxBuffer: 1 << 30,
  })
  packing.child.stdin?.end(revs.map((rev) => `${rev}\n`).join(''))
  return Buffer.concat([...lines, flushPkt, (await packing).stdout])
}

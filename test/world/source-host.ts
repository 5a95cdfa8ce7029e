import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What is answered at a path: JSON, a list in pages, or whatever it writes itself. */
export type HostAnswer = (request: IncomingMessage, reply: ServerResponse, url: URL) => unknown

/** A list, in pages as large as are asked for, that name the next one in the `Link` header. */
export function listed(all: readonly unknown[]): HostAnswer {
  return (request, reply, url) => {
    const size = Number(url.searchParams.get('per_page') ?? 30)
    const page = Number(url.searchParams.get('page') ?? 1)
    if (page * size < all.length) {
      const next = new URL(url)
      next.searchParams.set('page', String(page + 1))
      reply.setHeader('link', `<${next.href}>; rel="next", <${url.href}>; rel="last"`)
    }
    return all.slice((page - 1) * size, page * size)
  }
}

/**
 * A host of repositories as others run them: answers at paths of its REST API, to who knows the secret, and git over
 * HTTP of real repositories.
 */
export class SourceHost implements AsyncDisposable {
  readonly url: string
  readonly folder: string
  readonly secret = 'secret-of-the-host'
  /** What was asked for, in its order: method, path and query. */
  readonly asked: string[] = []
  /** Credentials that came with what was asked for. */
  readonly credentials = new Set<string>()
  answers: Record<string, HostAnswer> = {}
  /** Requests that are answered now, and the most there were at once. */
  busy = 0
  mostBusy = 0
  readonly #server: Server

  private constructor(server: Server, folder: string) {
    this.#server = server
    this.folder = folder
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(): Promise<SourceHost> {
    const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-host-'))
    const server = createServer((request, reply) => {
      host.#answer(request, reply).catch(() => reply.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const host = new SourceHost(server, folder)
    return host
  }

  /** A bare repository that is cloned from `/name.git`; `work` commits in a copy of it and pushes. */
  async repository(
    name: string,
    work: (git: (...args: string[]) => Promise<string>, folder: string) => Promise<void>,
    branch = 'main',
  ): Promise<void> {
    const bare = path.join(this.folder, `${name}.git`)
    await mkdir(path.dirname(bare), { recursive: true })
    await run('git', ['init', '--quiet', '--bare', `--initial-branch=${branch}`, bare])
    const copy = await mkdtemp(path.join(this.folder, 'copy-'))
    const options = { env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' } }
    const names = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
    const git = async (...args: string[]) =>
      (await run('git', [...names, '-C', copy, ...args], options)).stdout.trim()
    await git('init', '--quiet', `--initial-branch=${branch}`)
    await git('remote', 'add', 'origin', bare)
    await work(git, copy)
  }

  async #answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url)
    this.asked.push(`${request.method!} ${url.pathname}${url.search}`)
    const sent = request.headers.authorization ?? ''
    this.credentials.add(sent)
    const plain = sent.startsWith('Basic ') ? Buffer.from(sent.slice(6), 'base64').toString() : sent
    if (!plain.includes(this.secret)) {
      reply.writeHead(401, { 'content-type': 'application/json', 'www-authenticate': 'Basic' }).end('{}')
      return
    }
    const [, repository] = /^(\/.+\.git(?:\/wiki)?)\/(?:info\/refs|git-upload-pack)$/.exec(url.pathname) ?? []
    if (repository !== undefined && this.answers[url.pathname] === undefined) {
      // Some hosts have wikis below the addresses of their repositories.
      const place = repository.replace(/\.git\/wiki$/, '.wiki.git')
      await this.#git(path.join(this.folder, place), request, reply)
      return
    }
    const answer = this.answers[url.pathname]
    this.busy += 1
    this.mostBusy = Math.max(this.mostBusy, this.busy)
    try {
      const value = await answer?.(request, reply, url)
      if (reply.writableEnded || reply.headersSent) return
      if (value === undefined)
        reply.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not Found"}')
      else reply.setHeader('content-type', 'application/json').end(JSON.stringify(value))
    } finally {
      this.busy -= 1
    }
  }

  async #git(folder: string, request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const greets = request.method === 'GET'
    const args = ['upload-pack', '--stateless-rpc', ...(greets ? ['--http-backend-info-refs'] : []), folder]
    const exists = await run('git', ['--git-dir', folder, 'rev-parse', '--git-dir']).then(
      () => true,
      () => false,
    )
    if (!exists) {
      reply.writeHead(404).end()
      return
    }
    const kind = greets ? 'advertisement' : 'result'
    reply.writeHead(200, { 'content-type': `application/x-git-upload-pack-${kind}` })
    if (greets) reply.write('001e# service=git-upload-pack\n0000')
    const git = spawn('git', args, { stdio: ['pipe', 'pipe', 'ignore'] })
    git.stdin.on('error', () => undefined)
    request.pipe(git.stdin)
    git.stdout.pipe(reply)
    await once(git, 'close')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Writes a file and commits it. */
export async function commitFile(
  git: (...args: string[]) => Promise<string>,
  folder: string,
  name: string,
  content: string,
): Promise<string> {
  await writeFile(path.join(folder, name), content)
  await git('add', '.')
  await git('commit', '--quiet', '-m', `Write ${name}`)
  return git('rev-parse', 'HEAD')
}

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { Busboy } from '@fastify/busboy'
import type { JobPayload } from '../payload.ts'

const run = promisify(execFile)

export interface Upload {
  type: string
  format: string
  expireIn: string | null
  filename: string
  content: Buffer
}

/** One job as the server sees it. */
export class ServedJob {
  readonly payload: JobPayload
  trace = Buffer.alloc(0)
  /** What PATCH and PUT tell as `Job-Status`. */
  status = 'running'
  puts: Record<string, unknown>[] = []
  pieces: { at: number; range: string; size: number; status: number }[] = []
  uploads: Upload[] = []
  handedOut = 0
  readonly #ended = Promise.withResolvers<Record<string, unknown>>()

  constructor(payload: JobPayload) {
    this.payload = payload
  }

  get ended() {
    return this.#ended.promise
  }

  get log() {
    return this.trace.toString()
  }

  end(body: Record<string, unknown>) {
    this.#ended.resolve(body)
  }

  /** Resolves when the log holds the text. */
  async shows(wanted: string, within = 15_000) {
    for (const end = Date.now() + within; !this.log.includes(wanted);) {
      if (Date.now() > end) throw new Error(`the log does not show ${wanted}:\n${this.log}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

type Interference = (
  request: { method: string; path: string; headers: http.IncomingHttpHeaders },
  job: ServedJob | undefined,
) => { status: number; headers?: Record<string, string>; body?: string } | undefined

/** The runner API of a service, small, with a git repository served by the real git. */
export class TestServer implements AsyncDisposable {
  readonly jobs = new Map<number, ServedJob>()
  readonly requests: Record<string, unknown>[] = []
  readonly refusedFetches: string[] = []
  /** Answers instead of the server. */
  interfere: Interference = () => undefined
  artifacts = new Map<number, Buffer>()
  folder = ''
  sha = ''
  #server: http.Server | undefined
  #port = 0
  #queue: ServedJob[] = []
  #waiting: (() => void)[] = []
  #update = 0
  #lastId = Math.floor(Math.random() * 1e9)

  static async start() {
    const server = new TestServer()
    server.folder = await mkdtemp(path.join(os.tmpdir(), 'runner-server-'))
    await server.#makeRepository()
    await server.listen()
    return server
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Also after `stopListening`, on the same port. */
  async listen() {
    this.#server = http.createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error))
    })
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async stopListening() {
    const closed = once(this.#server!, 'close')
    this.#server!.close()
    this.#server!.closeAllConnections()
    await closed
  }

  async [Symbol.asyncDispose]() {
    await this.stopListening()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Puts a job into the queue; `script` is the shortest way to say what it does. */
  offer(job: Partial<JobPayload> & { script?: string[]; afterScript?: string[] }): ServedJob {
    const { script = ['echo hello'], afterScript, variables, ...rest } = job
    const id = ++this.#lastId
    const token = `glcbt-64_token${id}`
    const steps: JobPayload['steps'] = [{ name: 'script', script, timeout: 3600, when: 'on_success' }]
    if (afterScript)
      steps.push({ name: 'after_script', script: afterScript, when: 'always', allow_failure: true })
    const standard: JobPayload = {
      id,
      token,
      job_info: { name: 'test', project_id: 7, project_full_path: 'team/app' },
      git_info: {
        repo_url: `http://gitlab-ci-token:${token}@127.0.0.1:${this.#port}/team/app.git`,
        ref: 'main',
        sha: this.sha,
        refspecs: ['+refs/heads/main:refs/remotes/origin/main'],
        depth: 20,
      },
      runner_info: { timeout: 3600 },
      variables: [
        { key: 'GIT_STRATEGY', value: 'none' },
        { key: 'CI_JOB_TOKEN', value: token, masked: true },
        ...(variables ?? []),
      ],
      steps,
      features: { trace_sections: true, token_mask_prefixes: ['glpat-'] },
    }
    const served = new ServedJob(Object.assign(standard, rest))
    this.jobs.set(id, served)
    this.#queue.push(served)
    this.#update++
    for (const wake of this.#waiting.splice(0)) wake()
    return served
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse) {
    const url = new URL(request.url!, this.url)
    const reply = (status: number, body = '', headers: Record<string, string> = {}) => {
      response.writeHead(status, headers).end(body)
    }
    const found = /^\/api\/v4\/jobs\/(\d+)(\/\w+)?$/.exec(url.pathname)
    const job = this.jobs.get(Number(found?.[1]))
    const other = this.interfere(
      { method: request.method!, path: url.pathname, headers: request.headers },
      job,
    )
    if (other !== undefined) {
      request.resume()
      reply(other.status, other.body, other.headers)
    } else if (url.pathname === '/api/v4/jobs/request') {
      await this.#handOut(request, reply, response)
    } else if (url.pathname.startsWith('/team/app.git')) {
      await this.#serveGit(request, response, url)
    } else if (job === undefined || request.headers['job-token'] === undefined) {
      reply(403, '{"message":"403 Forbidden"}')
    } else if (found?.[2] === '/artifacts' && request.method === 'GET') {
      const content = this.artifacts.get(job.payload.id)
      if (content === undefined) reply(404)
      else response.writeHead(200).end(content)
    } else if (found?.[2] === '/artifacts') {
      await receive(request, url, job)
      reply(201, '"201"')
    } else if (found?.[2] === '/trace') {
      await append(request, job, reply)
    } else {
      const body = JSON.parse(await text(request)) as Record<string, unknown>
      job.puts.push(body)
      reply(200, '"200"', { 'job-status': job.status })
      if (body.state !== 'running') job.end(body)
    }
  }

  async #handOut(
    request: http.IncomingMessage,
    reply: (status: number, body?: string, headers?: Record<string, string>) => void,
    response: http.ServerResponse,
  ) {
    const body = JSON.parse(await text(request)) as { last_update?: string }
    this.requests.push(body)
    if (this.#queue.length === 0 && body.last_update === String(this.#update)) {
      await Promise.race([
        new Promise<void>((resolve) => this.#waiting.push(resolve)),
        once(response, 'close'),
      ])
    }
    const job = response.destroyed ? undefined : this.#queue.shift()
    if (job === undefined) {
      reply(204, '', { 'x-gitlab-last-update': String(this.#update) })
    } else {
      job.handedOut = performance.now()
      reply(201, JSON.stringify(job.payload), { 'content-type': 'application/json' })
    }
  }

  async #makeRepository() {
    const work = path.join(this.folder, 'work')
    await mkdir(path.join(this.folder, 'team'))
    await run('git', ['init', '-q', '-b', 'main', work])
    await writeFile(path.join(work, 'README'), 'read me\n')
    const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
    await run('git', ['-C', work, 'add', '.'])
    await run('git', ['-C', work, ...identity, 'commit', '-q', '-m', 'first'])
    await run('git', ['clone', '-q', '--bare', work, path.join(this.folder, 'team/app.git')])
    this.sha = (await run('git', ['-C', work, 'rev-parse', 'HEAD'])).stdout.trim()
  }

  async #serveGit(request: http.IncomingMessage, response: http.ServerResponse, url: URL) {
    if (!request.headers.authorization?.startsWith('Basic ')) {
      this.refusedFetches.push(url.pathname)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return
    }
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: this.folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
      },
    })
    request.pipe(child.stdin)
    const parts: Buffer[] = []
    for await (const part of child.stdout) parts.push(part as Buffer)
    const output = Buffer.concat(parts)
    const split = output.indexOf('\r\n\r\n')
    const headers = output.subarray(0, split).toString().split('\r\n')
    const pairs = headers.map((line) => line.split(': ') as [string, string])
    const status = Number.parseInt(pairs.find(([name]) => name === 'Status')?.[1] ?? '200')
    response.writeHead(status, Object.fromEntries(pairs)).end(output.subarray(split + 4))
  }
}

async function append(
  request: http.IncomingMessage,
  job: ServedJob,
  reply: (status: number, body?: string, headers?: Record<string, string>) => void,
) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const piece = Buffer.concat(parts)
  const range = request.headers['content-range'] ?? ''
  const fits = range === `${job.trace.length}-${job.trace.length + piece.length - 1}`
  if (fits) job.trace = Buffer.concat([job.trace, piece])
  job.pieces.push({ at: performance.now(), range, size: piece.length, status: fits ? 202 : 416 })
  reply(fits ? 202 : 416, '', { range: `0-${job.trace.length}`, 'job-status': job.status })
}

async function receive(request: http.IncomingMessage, url: URL, job: ServedJob) {
  const form = new Busboy({ headers: request.headers as { 'content-type': string } })
  form.on('file', (field, stream, filename) => {
    const parts: Buffer[] = []
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('end', () => {
      if (field !== 'file') return
      const query = url.searchParams
      job.uploads.push({
        type: query.get('artifact_type') ?? '',
        format: query.get('artifact_format') ?? '',
        expireIn: query.get('expire_in'),
        filename,
        content: Buffer.concat(parts),
      })
    })
  })
  request.pipe(form)
  await once(form, 'finish')
}

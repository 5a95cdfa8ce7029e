import { expect } from 'vitest'
import { Client, type Reply } from '../world/client.ts'
import { expectStatus, type Json, type World } from '../world/world.ts'

/** Every feature the stock runner announces that jobs can ask for. */
const features = {
  upload_multiple_artifacts: true,
  upload_raw_artifacts: true,
  refspecs: true,
  artifacts_exclude: true,
  multi_build_steps: true,
  return_exit_code: true,
  fallback_cache_keys: true,
  job_inputs: true,
  cancel_gracefully: true,
}

/** A runner that speaks the protocol call by call. */
export class RawRunner {
  readonly id: number
  readonly token: string
  readonly #client: Client
  lastUpdate: string | undefined

  constructor(url: string, identity: Json) {
    this.id = identity['id'] as number
    this.token = identity['token'] as string
    this.#client = new Client(url)
  }

  static async create(world: World, fields: Json = {}, by = world.root): Promise<RawRunner> {
    return new RawRunner(
      world.url,
      expectStatus(await by.post('/user/runners', { runner_type: 'instance_type', ...fields }), 201),
    )
  }

  /** For one project only. */
  static forProject(world: World, project: Json, fields: Json = {}): Promise<RawRunner> {
    return RawRunner.create(world, {
      runner_type: 'project_type',
      project_id: project['id'] as number,
      ...fields,
    })
  }

  async ask(more: Json = {}): Promise<Reply> {
    const reply = await this.#client.post('/jobs/request', {
      token: this.token,
      system_id: 's_raw',
      info: { name: 'raw', version: '18.2.0', features },
      ...(this.lastUpdate !== undefined && { last_update: this.lastUpdate }),
      ...more,
    })
    this.lastUpdate = reply.headers.get('x-gitlab-last-update') ?? this.lastUpdate
    return reply
  }

  /** A job, which there must be. */
  async take(): Promise<RawJob> {
    const reply = await this.ask()
    expect(reply.status, reply.text).toBe(201)
    return new RawJob(this.#client, reply.body as Json)
  }
}

export class RawJob {
  readonly payload: Json
  readonly id: number
  readonly token: string
  readonly #client: Client
  #size = 0

  constructor(client: Client, payload: Json) {
    this.#client = client
    this.payload = payload
    this.id = payload['id'] as number
    this.token = payload['token'] as string
  }

  variable(key: string): string | undefined {
    const list = this.payload['variables'] as { key: string; value: string }[]
    return list.findLast((one) => one.key === key)?.value
  }

  put(body: Json): Promise<Reply> {
    return this.#client.put(`/jobs/${this.id}`, { token: this.token, ...body })
  }

  async end(state: 'success' | 'failed', more: Json = {}): Promise<Reply> {
    const reply = await this.put({ state, ...more })
    expect(reply.status, reply.text).toBe(200)
    return reply
  }

  patch(text: string, range: string | undefined, query = ''): Promise<Reply> {
    return this.#client.patch(`/jobs/${this.id}/trace${query}`, text, {
      'job-token': this.token,
      'content-type': 'text/plain',
      ...(range !== undefined && { 'content-range': range }),
    })
  }

  /** Appends to the log. */
  async say(text: string): Promise<Reply> {
    const size = Buffer.byteLength(text)
    const reply = await this.patch(text, `${this.#size}-${this.#size + size - 1}`)
    if (reply.status === 202) this.#size += size
    return reply
  }

  upload(
    content: Uint8Array<ArrayBuffer>,
    query: Record<string, string>,
    name = 'artifacts.zip',
  ): Promise<Reply> {
    const form = new FormData()
    form.append('file', new Blob([content]), name)
    return this.#client.post(`/jobs/${this.id}/artifacts?${new URLSearchParams(query).toString()}`, form, {
      'job-token': this.token,
    })
  }

  /** Asks before an upload. */
  authorize(body: Json): Promise<Reply> {
    return this.#client.post(`/jobs/${this.id}/artifacts/authorize`, { token: this.token, ...body })
  }

  download(jobId: number): Promise<Reply> {
    return this.#client.get(`/jobs/${jobId}/artifacts`, { 'job-token': this.token })
  }
}

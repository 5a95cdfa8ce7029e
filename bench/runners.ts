import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface RunnersOrder {
  readonly port: number
  /** One runner each. */
  readonly tokens: readonly string[]
}

/** A push that is ready to be sent: the body of the request to `git-receive-pack`. */
export interface PushOrder {
  readonly path: string
  readonly authorization: string
  readonly sha: string
  readonly body: Uint8Array
  /** Milliseconds to wait for a runner to be given the job. */
  readonly patience: number
}

/** Milliseconds. */
export interface PushTimes {
  readonly push: number
  /** From the answer to the push until a runner has the job; undefined when none got it. */
  readonly claim?: number
  /** What was wrong with the push. */
  readonly refused?: string
}

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

const api = '/api/v4'

/** Runners that do nothing but ask for jobs, and end at once those that they get. */
export class Runners {
  readonly #port: number
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: Infinity })
  readonly #stop = new AbortController()
  readonly #claims = new Map<string, number>()
  readonly #arrived = new Map<string, () => void>()
  readonly #begun: Promise<void>

  constructor({ port, tokens }: RunnersOrder) {
    this.#port = port
    const begun = tokens.map(async (token, index) => {
      // Not all in one moment: real ones do not start together either.
      await sleep(index * 2)
      void this.#keepAsking(token)
    })
    this.#begun = Promise.all(begun).then(() => undefined)
  }

  /** Once every runner asks. */
  settled(): Promise<void> {
    return this.#begun
  }

  stop(): void {
    this.#stop.abort()
    this.#agent.destroy()
  }

  async timePush({ path, authorization, sha, body, patience }: PushOrder): Promise<PushTimes> {
    const arrived = new Promise<void>((resolve) => this.#arrived.set(sha, resolve))
    const begin = performance.now()
    const { status, text } = await this.#ask('POST', path, body, {
      authorization,
      'content-type': 'application/x-git-receive-pack-request',
    })
    const accepted = performance.now()
    if (status !== 200 || !text.includes('unpack ok') || /\dng /.test(text)) {
      return { push: accepted - begin, refused: `${status} ${text.slice(0, 200)}` }
    }
    await Promise.race([arrived, sleep(patience)])
    const claimed = this.#claims.get(sha)
    return {
      push: accepted - begin,
      ...(claimed !== undefined && { claim: Math.max(0, claimed - accepted) }),
    }
  }

  async #keepAsking(token: string): Promise<void> {
    let lastUpdate: string | undefined
    while (!this.#stop.signal.aborted) {
      const asked = performance.now()
      try {
        const answer = await this.#json('POST', '/jobs/request', {
          token,
          last_update: lastUpdate,
          info: {
            name: 'bench',
            version: '18.0.0',
            platform: 'linux',
            architecture: 'amd64',
            executor: 'shell',
          },
        })
        if (answer.status === 201) {
          await this.#finish(answer.text)
          continue
        }
        const update = answer.headers['x-gitlab-last-update']
        if (typeof update === 'string') lastUpdate = update
      } catch {
        // The connection broke; it is asked again.
      }
      // A service that does not hold the question open is asked every second.
      await sleep(Math.max(0, 1000 - (performance.now() - asked)))
    }
  }

  async #finish(text: string): Promise<void> {
    const now = performance.now()
    const job = JSON.parse(text) as { id: number; token: string; git_info?: { sha?: string } }
    const sha = job.git_info?.sha ?? ''
    if (!this.#claims.has(sha)) this.#claims.set(sha, now)
    this.#arrived.get(sha)?.()
    await this.#json('PUT', `/jobs/${job.id}`, { token: job.token, state: 'success' })
  }

  #json(method: string, path: string, body: unknown): Promise<Answer> {
    return this.#ask(method, api + path, Buffer.from(JSON.stringify(body)), {
      'content-type': 'application/json',
    })
  }

  #ask(method: string, path: string, body: Uint8Array, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          host: '127.0.0.1',
          port: this.#port,
          method,
          path,
          agent: this.#agent,
          headers: { ...headers, 'content-length': body.length },
        },
        (response) => {
          const parts: Buffer[] = []
          response.on('data', (part: Buffer) => parts.push(part))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(parts).toString(),
            }),
          )
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  }
}

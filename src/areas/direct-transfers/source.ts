import { createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { humanSize } from '../../kernel/lib/human-size.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import { SourceTrouble, TransferFault } from './faults.ts'
import type { Kind } from '../relation-exports/index.ts'

/** Milliseconds for an answer, and for a whole file. */
const patience = 60_000
const patienceForFiles = 3_600_000
/** Bytes of an answer that is no file. */
const longestAnswer = 8 * 1024 * 1024
const pageSize = 100
/** Groups or projects directly below a group, of which no more are looked for. */
const mostBelow = 1000

export interface SourcePlace {
  readonly id: number
  readonly full_path: string
}

interface Answer {
  readonly status: number
  readonly value: unknown
  readonly next: string
}

/** The API of another instance, in the name of who gave us a token for it. */
export class Source {
  readonly #outbound: Outbound
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal

  constructor(outbound: Outbound, url: string, token: string, signal: AbortSignal) {
    this.#outbound = outbound
    this.#base = `${url.replace(/\/+$/, '')}/api/v4`
    this.#headers = { 'private-token': token }
    this.#signal = signal
  }

  /** What the instance says it is: `17.11.0`. */
  async version(): Promise<string> {
    const { value } = await this.#get('/version')
    const version = isRecord(value) ? value['version'] : undefined
    if (typeof version !== 'string') throw new TransferFault('The source does not tell its version.')
    return version.slice(0, 50)
  }

  async place(kind: Kind, fullPath: string): Promise<SourcePlace> {
    const { value } = await this.#get(`/${kind}s/${encodeURIComponent(fullPath)}`)
    return placeOf(value)
  }

  async beginExport(kind: Kind, id: number): Promise<void> {
    const got = await this.#outbound.postText(
      `${this.#base}/${kind}s/${id}/export_relations?batched=true`,
      '',
      this.#options,
    )
    if ('blocked' in got) throw blocked(got.blocked)
    if ('failed' in got) throw unreachable(got.failed)
    checkStatus(got.status, [200, 201, 202])
  }

  /** How far each relation is, as the source tells it. */
  async exportStatus(kind: Kind, id: number): Promise<readonly unknown[]> {
    const { value } = await this.#get(`/${kind}s/${id}/export_relations/status`)
    if (!Array.isArray(value)) throw new TransferFault('The source tells no status of its export.')
    return value as unknown[]
  }

  /** The groups or projects directly below a group. */
  async below(groupId: number, what: 'subgroups' | 'projects'): Promise<SourcePlace[]> {
    const found: SourcePlace[] = []
    for (let page = '1'; page !== '';) {
      const { value, next } = await this.#get(
        `/groups/${groupId}/${what}?per_page=${pageSize}&page=${page}${what === 'projects' ? '&with_shared=false' : ''}`,
      )
      if (!Array.isArray(value)) throw new TransferFault(`The source does not tell the ${what}.`)
      found.push(...(value as unknown[]).map((each) => placeOf(each)))
      if (found.length > mostBelow) throw new TransferFault(`The source has more than ${mostBelow} ${what}.`)
      page = value.length > 0 && /^\d{1,5}$/.test(next) ? next : ''
    }
    return found
  }

  /** Fetches a relation into a file; undefined for `limit`: however large it is. */
  async download(
    kind: Kind,
    id: number,
    { relation, number }: { readonly relation: string; readonly number: number },
    file: string,
    limit: number | undefined,
  ): Promise<void> {
    const query = `relation=${encodeURIComponent(relation)}&batched=true&batch_number=${number}`
    const url = `${this.#base}/${kind}s/${id}/export_relations/download?${query}`
    const options = { headers: this.#headers, signal: this.#signal, timeout: patienceForFiles }
    const got = await this.#outbound.stream(url, options, async ({ status, length, body }) => {
      checkStatus(status, [200])
      if (limit !== undefined && length !== undefined && length > limit) throw tooLarge(length, limit)
      let broken: unknown
      try {
        await pipeline(body, metered(limit), createWriteStream(file, { flags: 'wx', mode: 0o600 }))
      } catch (error) {
        broken = error
      }
      if (broken instanceof TransferFault) throw broken
      if (broken !== undefined) throw unreachable('socket')
      return {}
    })
    if ('blocked' in got) throw blocked(got.blocked)
    if ('failed' in got) throw unreachable(got.failed)
  }

  get #options() {
    return {
      headers: this.#headers,
      signal: this.#signal,
      timeout: patience,
      maximumBytes: longestAnswer,
    } as const
  }

  async #get(path: string): Promise<Answer> {
    const got = await this.#outbound.getText(this.#base + path, this.#options)
    if ('blocked' in got) throw blocked(got.blocked)
    if ('failed' in got) throw unreachable(got.failed)
    checkStatus(got.status, [200])
    if (Buffer.byteLength(got.text) > longestAnswer) throw new TransferFault('The source answers too much.')
    try {
      return {
        status: got.status,
        value: JSON.parse(got.text) as unknown,
        next: got.headers['x-next-page'] ?? '',
      }
    } catch {
      throw new TransferFault('The source does not answer with JSON.')
    }
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function placeOf(value: unknown): SourcePlace {
  const raw = isRecord(value) ? value : {}
  const path = raw['full_path'] ?? raw['path_with_namespace']
  if (
    !Number.isSafeInteger(raw['id']) ||
    typeof path !== 'string' ||
    path.length > 2000 ||
    path.includes('\0')
  )
    throw new TransferFault('The source describes no group or project.')
  return { id: raw['id'] as number, full_path: path }
}

function checkStatus(status: number, good: readonly number[]): void {
  if (good.includes(status)) return
  const text = `The source answers with ${status}.`
  throw status === 429 || status >= 500 ? new SourceTrouble(text) : new TransferFault(text)
}

function blocked(reason: string): TransferFault {
  return new TransferFault(`The source is blocked: ${reason}`)
}

function unreachable(how: string): SourceTrouble {
  return new SourceTrouble(`The source could not be asked: ${how}`)
}

function tooLarge(size: number, limit: number): TransferFault {
  return new TransferFault(`File size ${humanSize(size)} exceeds limit of ${humanSize(limit)}`, {
    fatal: true,
  })
}

function metered(limit: number | undefined): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (limit !== undefined && size > limit) done(tooLarge(size, limit))
      else done(null, chunk)
    },
  })
}

import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { ClusterFailure, type Cluster } from './cluster.ts'
import { patience } from './services.ts'

/** One document as it is, or that there is none. */
export interface Action {
  readonly id: string
  /** What is written of a document with a lower one does not count any more. */
  readonly version: number
  readonly document: Readonly<Record<string, unknown>> | undefined
}

export interface BulkServices {
  readonly cluster: Cluster
  readonly settings: Settings
  readonly log: Logger
}

interface Line {
  readonly text: string
  readonly bytes: number
}

/** The bulk requests of this node: as large, and as many at once, as the instance allows. */
export class Bulks {
  readonly #services: BulkServices
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(services: BulkServices) {
    this.#services = services
  }

  /** Writes documents into an index. Rejects when not all of it was done; then all is to be written again. */
  async write(
    index: string,
    actions: AsyncIterable<Action> | Iterable<Action>,
    signal: AbortSignal,
  ): Promise<void> {
    const { elasticsearch_max_bulk_size_mb: megabytes } = this.#services.settings.values
    const largest = Math.min(megabytes, 1024) * 1024 * 1024
    const sent = new Set<Promise<void>>()
    const failures: unknown[] = []
    let lines: Line[] = []
    let size = 0
    const flush = async (): Promise<void> => {
      const full = lines
      lines = []
      size = 0
      if (full.length === 0) return
      await this.#enter()
      const request: Promise<void> = this.#send(index, full, signal)
        .catch((error: unknown) => {
          failures.push(error)
        })
        .finally(() => {
          sent.delete(request)
          this.#leave()
        })
      sent.add(request)
    }
    try {
      for await (const action of actions) {
        if (failures.length > 0 || signal.aborted) break
        const line = lineOf(action, largest)
        if (size + line.bytes > largest) await flush()
        lines.push(line)
        size += line.bytes
      }
      if (failures.length === 0 && !signal.aborted) await flush()
    } finally {
      await Promise.all(sent)
    }
    signal.throwIfAborted()
    if (failures.length > 0) throw failures[0]
  }

  async #send(index: string, lines: readonly Line[], signal: AbortSignal): Promise<void> {
    const { cluster, settings } = this.#services
    const { status, body } = await cluster.call({
      method: 'POST',
      path: `/${index}/_bulk?filter_path=errors,items.*.status,items.*.error.type`,
      body: lines.map(({ text }) => text).join(''),
      type: 'application/x-ndjson',
      timeout: patience(settings),
      signal,
    })
    // It takes less at once than the instance says.
    if (status === 413 && lines.length > 1) {
      const half = Math.ceil(lines.length / 2)
      await this.#send(index, lines.slice(0, half), signal)
      await this.#send(index, lines.slice(half), signal)
      return
    }
    if (status === 413) {
      this.#services.log.warn({ index }, 'the search cluster takes no document of this size')
      return
    }
    if (status >= 300)
      throw new ClusterFailure(`the search cluster answered ${status} to a bulk request`, status)
    this.#check(index, body, lines.length)
  }

  #check(index: string, body: unknown, count: number): void {
    const { errors, items } = (body ?? {}) as { errors?: unknown; items?: unknown }
    if (
      !Array.isArray(items) ||
      items.length !== count ||
      !items.every((item) => typeof item === 'object' && item !== null)
    )
      throw new ClusterFailure('the search cluster does not say what became of a bulk request')
    if (errors === false) return
    for (const item of items as Readonly<Record<string, { status?: number; error?: { type?: string } }>>[]) {
      const [operation, { status = 500, error = {} } = {}] = Object.entries(item)[0] ?? []
      // 409: somebody has written what he read later.
      if (status < 300 || status === 409 || (status === 404 && operation === 'delete')) continue
      if (status >= 500 || status === 429 || status === 404)
        throw new ClusterFailure(`the search cluster answered ${status} to a document`, status)
      this.#services.log.warn({ index, status, reason: error.type }, 'the search cluster refused a document')
    }
  }

  async #enter(): Promise<void> {
    while (this.#running >= this.#services.settings.values.elasticsearch_max_bulk_concurrency)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running += 1
  }

  #leave(): void {
    this.#running -= 1
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

function lineOf({ id, version, document }: Action, largest: number): Line {
  const about = { _id: id, version, version_type: 'external_gte' }
  const made = (source: Action['document']): Line => {
    const text =
      source === undefined
        ? `${JSON.stringify({ delete: about })}\n`
        : `${JSON.stringify({ index: about })}\n${JSON.stringify(source)}\n`
    return { text, bytes: Buffer.byteLength(text) }
  }
  const line = made(document)
  if (line.bytes <= largest || typeof document?.['text'] !== 'string') return line
  // A character takes up to six bytes in JSON, and a megabyte is left for the rest of the document.
  return made({ ...document, text: document['text'].slice(0, Math.floor(largest / 8)).toWellFormed() })
}

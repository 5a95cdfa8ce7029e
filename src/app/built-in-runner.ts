import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { ensureBuiltInRunner } from '../areas/runners/index.ts'
import type { Database } from '../kernel/db/index.ts'
import type { Logger } from '../kernel/log/index.ts'
import { runRunner } from '../runner/index.ts'

export interface BuiltInRunnerOptions {
  readonly db: Database
  readonly log: Logger
  /** Where the service listens. */
  readonly url: string
  readonly nodeId: string
  readonly dataDirectory: string
  readonly concurrency: number
  readonly isolation: 'none' | 'bwrap'
  /** Seconds that stopping may take. */
  readonly shutdownTimeout: number
}

/** What the runner itself needs to end a job that was stopped: killing it and reporting. */
const reportTime = 15

/**
 * A runner inside the service, so that jobs run as soon as it does. It is a client of the API like any other, known
 * by a token that is new at every start.
 */
export async function startBuiltInRunner(options: BuiltInRunnerOptions): Promise<AsyncDisposable> {
  const { db, log, url, nodeId, dataDirectory, concurrency, isolation, shutdownTimeout } = options
  const directory = path.join(dataDirectory, 'runner')
  await mkdir(directory, { recursive: true, mode: 0o711 })
  const stopping = new AbortController()
  const ended = runRunner({
    url,
    token: await ensureBuiltInRunner(db, nodeId),
    systemId: `b_${nodeId}`,
    concurrency,
    isolation,
    directory,
    log,
    signal: stopping.signal,
    shutdownGrace: Math.max(1, shutdownTimeout - reportTime),
  }).catch((error: unknown) =>
    log.warn({ err: error }, 'the built-in runner could not start; jobs wait for others'),
  )
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await ended
    },
  }
}

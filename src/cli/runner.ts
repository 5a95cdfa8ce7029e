import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import path from 'node:path'
import { readConfig } from '../kernel/config/index.ts'
import { makeFolders } from '../kernel/lib/make-folders.ts'
import { createLogger } from '../kernel/log/index.ts'
import { runRunner } from '../runner/index.ts'
import { explain, Trouble } from './trouble.ts'

export interface RunnerFlags {
  readonly url?: string
  readonly token?: string
  readonly directory?: string
  readonly concurrency?: string
}

/** Runs jobs of an instance until it is told to stop. */
export async function startRunner(flags: RunnerFlags): Promise<void> {
  const config = readConfig(
    {
      ...process.env,
      ...(flags.url !== undefined && { RUNNER_URL: flags.url }),
      ...(flags.token !== undefined && { RUNNER_TOKEN: flags.token }),
      ...(flags.concurrency !== undefined && { RUNNER_CONCURRENCY: flags.concurrency }),
    },
    {
      ...(flags.url !== undefined && { RUNNER_URL: '--url' }),
      ...(flags.concurrency !== undefined && { RUNNER_CONCURRENCY: '--concurrency' }),
    },
  )
  const { runnerUrl: url, runnerToken: token } = config
  if (url === undefined) throw new Trouble('name the instance with --url or RUNNER_URL, as http://host.')
  if (token === undefined) throw new Trouble("give the runner's token with --token or RUNNER_TOKEN.")
  const directory = path.resolve(flags.directory ?? path.join(config.dataDirectory, 'runner'))
  await makeFolders(directory, 0o711).catch((error: unknown) => {
    throw explain(error, { ...config, dataDirectory: directory })
  })
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  await runRunner({
    url: url.href,
    token,
    systemId: systemId(directory),
    concurrency: config.runnerConcurrency,
    isolation: config.runnerIsolation,
    directory,
    log: createLogger(config.logLevel),
    signal: stop.signal,
    shutdownGrace: config.shutdownTimeout,
  })
}

/** The same for as long as machine and folder are. */
function systemId(directory: string): string {
  const digest = createHash('sha256').update(`${hostname()}\0${directory}`)
  return `s_${digest.digest('hex').slice(0, 12)}`
}

import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import path from 'node:path'
import { mkdir } from 'node:fs/promises'
import { Command } from 'commander'
import { readConfig } from '../kernel/config/index.ts'
import { createLogger } from '../kernel/log/index.ts'
import { runRunner } from '../runner/index.ts'
import { Trouble } from './trouble.ts'

interface Flags {
  readonly url: string | undefined
  readonly token: string | undefined
  readonly directory: string | undefined
  readonly concurrency: string | undefined
}

export function runnerCommand(): Command {
  return new Command('runner')
    .description('run CI jobs of an instance on this machine')
    .option('--url <address>', 'address of the instance (default: RUNNER_URL)')
    .option(
      '--token <token>',
      "the runner's token, glrt-… (default: RUNNER_TOKEN, which other users cannot read)",
    )
    .option('--directory <folder>', 'folder for jobs and caches (default: DATA_DIR/runner)')
    .option('--concurrency <number>', 'jobs at once (default: RUNNER_CONCURRENCY)')
    .action(async (flags: Flags) => {
      const config = readConfig({
        ...process.env,
        ...(flags.concurrency !== undefined && { RUNNER_CONCURRENCY: flags.concurrency }),
      })
      const url = flags.url ?? process.env['RUNNER_URL']
      const token = flags.token ?? process.env['RUNNER_TOKEN']
      if (url === undefined || !URL.canParse(url))
        throw new Trouble('name the instance with --url, as http://host.')
      if (token === undefined || token === '')
        throw new Trouble("give the runner's token with --token or RUNNER_TOKEN.")
      const directory = path.resolve(flags.directory ?? path.join(config.dataDirectory, 'runner'))
      await mkdir(directory, { recursive: true, mode: 0o711 })
      const stop = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
      await runRunner({
        url,
        token,
        systemId: systemId(directory),
        concurrency: config.runnerConcurrency,
        isolation: config.runnerIsolation,
        directory,
        log: createLogger(config.logLevel),
        signal: stop.signal,
        shutdownGrace: config.shutdownTimeout,
      })
    })
}

/** The same for as long as machine and folder are. */
function systemId(directory: string): string {
  const digest = createHash('sha256').update(`${hostname()}\0${directory}`)
  return `s_${digest.digest('hex').slice(0, 12)}`
}

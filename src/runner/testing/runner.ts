import { chmod, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { runRunner, type RunnerOptions } from '../index.ts'
import { TestServer } from './server.ts'

export interface TestRunner extends AsyncDisposable {
  server: TestServer
  directory: string
  done: Promise<void>
  stop: () => Promise<void>
}

/** A server with a runner at work; both end with the test. */
export async function startRunner(options: Partial<RunnerOptions> = {}): Promise<TestRunner> {
  const server = await TestServer.start()
  const directory = await mkdtemp(path.join(os.tmpdir(), 'runner-test-'))
  await chmod(directory, 0o711)
  const controller = new AbortController()
  const done = runRunner({
    url: server.url,
    token: 'glrt-runnersecret',
    systemId: 's_test',
    concurrency: 2,
    directory,
    log: pino({ level: process.env.RUNNER_LOG ?? 'silent' }),
    signal: controller.signal,
    killGrace: 1,
    shutdownGrace: 0,
    checkInterval: 0.05,
    ...options,
  })
  const stop = async () => {
    controller.abort()
    await done
  }
  return {
    server,
    directory,
    done,
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      await server[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

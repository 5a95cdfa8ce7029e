import { Api } from './api.ts'
import { runLoop } from './loop.ts'
import { settingsOf, type RunnerOptions } from './options.ts'
import { openWorkshop } from './workshop.ts'

export type { JobUserRange, RunnerOptions } from './options.ts'

/**
 * Runs CI jobs of an instance with a shell, each as a user and in a folder of its own, until the signal is aborted and
 * all of them have ended. Rejects only when it cannot start: the folder is unusable, or there is no shell.
 */
export async function runRunner(options: RunnerOptions): Promise<void> {
  const settings = settingsOf(options)
  await using workshop = await openWorkshop(settings)
  await using api = new Api(settings.url, settings.version)
  await runLoop(settings, api, workshop)
}

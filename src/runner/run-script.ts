import { closeSync } from 'node:fs'
import type { Api } from './api.ts'
import type { JobControl } from './job-control.ts'
import type { JobFolder } from './job-folder.ts'
import { killEverything, type JobUser } from './job-user.ts'
import type { Settings } from './options.ts'
import type { OutputPipes } from './output-pipe.ts'
import type { JobPayload } from './payload.ts'
import { runGroup } from './process-group.ts'
import { fitEnvironment, openScript } from './script.ts'
import { isTrue, scriptConfig } from './sources.ts'
import type { Sandbox } from './sandbox.ts'
import type { Trace } from './trace.ts'
import type { JobVariables } from './variables.ts'

/** All that the parts of one job's course need. */
export interface Course {
  job: JobPayload
  settings: Settings
  api: Api
  folder: JobFolder
  user: JobUser | undefined
  shell: string
  pipes: OutputPipes
  sandbox: Sandbox | undefined
  caches: string
  variables: JobVariables
  trace: Trace
  control: JobControl
  /** Seconds the job may take. */
  timeout: number
  /** Somebody waits for what is written next. */
  hurry: () => void
}

export interface ScriptRun {
  script: string
  environment?: Record<string, string>
  stop: AbortSignal
  /** Of the job itself: it may have started what outlives it. */
  untrusted: boolean
}

/** Runs a script as the job's user and returns its exit code. */
export async function runScript(course: Course, run: ScriptRun): Promise<number> {
  const { job, folder, user, shell, pipes, sandbox, variables, trace, settings } = course
  const all = { ...variables.environment, ...run.environment }
  const { environment, assignments } = fitEnvironment(all)
  const input = await openScript(folder.root, shell, run.script, assignments)
  try {
    return await runGroup({
      command: [...(sandbox?.(folder.root) ?? []), shell],
      // The runner's own folder: the script goes on to the project with the rights of the job.
      cwd: folder.root,
      environment: run.untrusted ? { ...environment, ...scriptConfig(job, all) } : environment,
      user,
      input,
      pipes,
      onOutput: (chunk) => trace.output(chunk),
      stop: run.stop,
      grace: settings.killGrace,
    })
  } finally {
    closeSync(input)
    trace.settle()
    if (run.untrusted) await killEverything(user, shell)
  }
}

export function isTraced(variables: JobVariables) {
  return isTrue(variables.environment.CI_DEBUG_TRACE)
}

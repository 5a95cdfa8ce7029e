import type { JobSubject, RunnerSubject } from '../subjects.ts'
import { everybody, type Rules } from './condition.ts'

/** Runners and jobs prove themselves by the very token they are found by; there is nobody else to decide about. */
export type RunnerAbility = 'act_as_runner'
export const runnerAbilities: Rules<RunnerSubject, RunnerAbility> = { act_as_runner: { allow: [everybody] } }

export type JobAbility = 'act_as_job'
export const jobAbilities: Rules<JobSubject, JobAbility> = { act_as_job: { allow: [everybody] } }

import { isAdministrator, may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { forbidden, invalid } from '../../kernel/errors/index.ts'
import { cronFaults, nextRun } from '../../kernel/lib/cron.ts'
import type { ScheduleRow } from './entities.ts'
import type { Values } from './store.ts'

export function limitReached(limit: number): Error {
  return invalid({ base: [`Maximum number of pipeline schedules (${limit}) exceeded`] })
}

export function isOwner(actor: Actor, { owner }: Pick<ScheduleRow, 'owner'>): boolean {
  return owner !== null && owner.id === actor.user?.id
}

/** It runs in the owner's name: nobody else may say what. */
export function requireOwner(actor: Actor, row: ScheduleRow): void {
  if (!isOwner(actor, row) && !isAdministrator(actor)) throw forbidden()
}

export function showsVariables(actor: Actor, project: ProjectSubject, row: ScheduleRow): boolean {
  return (
    may(actor, 'admin_pipeline_schedule', project) ||
    (isOwner(actor, row) && may(actor, 'create_pipeline_schedule', project))
  )
}

/** Refuses what cannot be, and works out when the next run is. */
export function checked(values: Omit<Values, 'next_run_at' | 'inputs'>, now: Date): Omit<Values, 'inputs'> {
  const blank = (text: string) => (text.trim() === '' ? ["can't be blank"] : undefined)
  const faults = Object.entries({
    description: blank(values.description),
    ...cronFaults({ cron: values.cron }, values.cron_timezone),
  }).filter(([, messages]) => messages !== undefined)
  if (faults.length > 0) throw invalid(Object.fromEntries(faults) as Record<string, string[]>)
  return { ...values, next_run_at: nextRun(values.cron, values.cron_timezone, now) }
}

export function checkKey(key: string): void {
  if (key.length > 255) throw invalid({ key: ['is too long (maximum is 255 characters)'] })
  if (!/^\w+$/.test(key)) throw invalid({ key: ["can contain only letters, digits and '_'."] })
}

export interface GivenInput {
  readonly name: string
  readonly value?: unknown
  readonly destroy?: boolean | undefined
}

const mostInputs = 20

/** The inputs of a schedule after these were set, or taken away. */
export function inputsAfter(
  before: Readonly<Record<string, unknown>>,
  given: readonly GivenInput[],
): Record<string, unknown> {
  const after = new Map(Object.entries(before))
  for (const { name, value, destroy = false } of given) {
    if (destroy) after.delete(name)
    else after.set(name, value ?? null)
  }
  if (after.size > mostInputs) throw invalid({ base: [`There cannot be more than ${mostInputs} inputs`] })
  return Object.fromEntries(after)
}

import { DateTime, Int, Nullable, Optional } from '../../kernel/endpoint/index.ts'

export const accessLevel = Int({
  description: '10, 15, 20, 30, 40 or 50; on paid plans 5 in top-level groups',
})

export const expiresAt = Optional(
  Nullable(DateTime({ description: 'Day on which the membership ends, at 00:00 UTC' })),
)

/** The day of a moment, in UTC. */
export function day(moment: Date | null | undefined): string | null {
  return moment?.toISOString().slice(0, 10) ?? null
}

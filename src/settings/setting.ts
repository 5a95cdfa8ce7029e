import type { Static, TSchema } from '../kernel/endpoint/types.ts'

/** One instance setting: shape with its default, and what it does. API, storage and manual derive from the row. */
export interface Setting<T extends TSchema = TSchema> {
  readonly schema: T
  readonly fallback: Static<T>
  /** What it is. */
  readonly about: string
  /** What one sees when it is changed. */
  readonly effect: string
}

export function setting<T extends TSchema>(
  schema: T,
  fallback: NoInfer<Static<T>>,
  { about, effect }: { about: string; effect: string },
): Setting<T> {
  return { schema, fallback, about, effect }
}

import type { InnerCaller } from '../../kernel/endpoint/index.ts'
import type { Actor } from '../../access/index.ts'
import type { NoteableKind, Place } from './noteables/noteable.ts'

/** A line of a text that is to be done, not said. */
export interface Command {
  readonly name: string
  readonly argument: string
}

export interface Spoken {
  /** What is left to be said. */
  readonly text: string
  readonly commands: readonly Command[]
}

/** What is commanded about, and by whom. */
export interface CommandTarget {
  readonly kind: NoteableKind
  /** Null of a commit. */
  readonly id: number | null
  readonly sha?: string | null
  readonly place: Place
  readonly actor: Actor
  readonly request: InnerCaller
  /** The head of a merge request that the caller has looked at. */
  readonly head?: string | undefined
}

export interface Outcome {
  /** How many of the commands had an effect. */
  readonly done: number
  readonly changes: Readonly<Record<string, unknown>>
  /** In sentences. */
  readonly summary: readonly string[]
  /** Why a command had none, where it says. */
  readonly problem?: string
}

/** Commands in texts. Who they are done by is put together with the areas that they act upon. */
export interface Commands {
  parse(kind: NoteableKind, text: string): Spoken
  run(target: CommandTarget, commands: readonly Command[]): Promise<Outcome>
}

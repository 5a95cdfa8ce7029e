import type { NoteableKind } from '../notes/index.ts'
import type { CommandContext, Done } from './context.ts'

/** One row: on what, by which names, and what is done. */
export type CommandRow = {
  readonly on: readonly NoteableKind[]
  readonly aliases?: readonly string[]
} & (
  | {
      /** Undefined: it had no effect. */
      readonly run: (on: CommandContext, argument: string) => Promise<Done | undefined>
    }
  | {
      /** It stands for these words. */
      readonly says: string
    }
)

export type CommandTable = Readonly<Record<string, CommandRow>>

import { ApiError } from '../../kernel/errors/index.ts'
import type { Command, Commands, CommandTarget, NoteableKind, Outcome, Spoken } from '../notes/index.ts'
import { CommandContext, Undoable, type QuickActionServices } from './context.ts'
import { epicCommands } from './epic-commands.ts'
import { issueCommands } from './issue-commands.ts'
import { parseCommands } from './parse.ts'
import { requestCommands } from './request-commands.ts'
import { sharedCommands } from './shared-commands.ts'
import type { CommandRow, CommandTable } from './table.ts'
import { timeCommands } from './time-commands.ts'

const table: CommandTable = {
  ...sharedCommands,
  ...timeCommands,
  ...issueCommands,
  ...requestCommands,
  ...epicCommands,
}

const byName: ReadonlyMap<string, { readonly name: string; readonly row: CommandRow }> = new Map(
  Object.entries(table).flatMap(([name, row]) =>
    [name, ...(row.aliases ?? [])].map((alias) => [alias, { name, row }] as const),
  ),
)

/** More than anybody types; a text of nothing but commands is not to keep the service busy. */
const mostCommands = 100

/** Commands in notes and descriptions (completions, 6.11). */
export function quickActions(services: QuickActionServices): Commands {
  return { parse, run: (target, commands) => run(services, target, commands) }
}

function parse(kind: NoteableKind, text: string): Spoken {
  if (kind === 'Snippet') return { text, commands: [] }
  return parseCommands(text, {
    known(name) {
      const found = byName.get(name)
      if (found?.row.on.includes(kind) !== true) return undefined
      return { name: found.name, ...('says' in found.row && { says: found.row.says }) }
    },
  })
}

async function run(
  services: QuickActionServices,
  target: CommandTarget,
  commands: readonly Command[],
): Promise<Outcome> {
  const context = await CommandContext.open(services, target)
  const changes: Record<string, unknown> = {}
  const summary: string[] = []
  let problem: string | undefined
  for (const { name, argument } of commands.slice(0, mostCommands)) {
    const row = table[name]!
    if (!('run' in row)) continue
    try {
      const done = await row.run(context, argument)
      if (done === undefined) continue
      context.done.add(name)
      Object.assign(changes, done.changes)
      summary.push(done.summary)
    } catch (error) {
      if (error instanceof Undoable) problem ??= error.message
      else if (!(error instanceof ApiError)) throw error
    }
  }
  return { done: summary.length, changes, summary, ...(problem !== undefined && { problem }) }
}

import { sql } from './sql.ts'
import pg from 'pg'
import { countStatement } from '../log/index.ts'

/** More texts than this are sent unnamed, so that a caller that builds texts without bound cannot fill the server. */
const maximumNamedStatements = 2000
const names = new Map<string, string>()

const marker = '/* planned by its values */'

/**
 * Anywhere in a statement: it is planned anew each time, by the values that it is given. For lists with filters of
 * which one value is found at a million rows and another at three: no one plan serves both.
 */
export const plannedByValues = sql.raw(marker)

function statementName(text: string): string | undefined {
  let name = names.get(text)
  if (name === undefined && names.size < maximumNamedStatements && !text.includes(marker)) {
    name = `s${names.size + 1}`
    names.set(text, name)
  }
  return name
}

/** Control statements change nothing by being prepared. */
const control = /^(begin|commit|rollback|savepoint|release|set|start|listen|unlisten)/i

/**
 * A connection that prepares every parameterised statement under a name (the same text has the same name on every
 * connection) and counts what it sends for the request's log line.
 */
export class Client extends pg.Client {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- pg declares seven overloads; all pass through here.
  override query(...args: any[]): any {
    const [text, values] = args as [unknown, unknown]
    countStatement(typeof text === 'string' ? text : ((text as { text?: string }).text ?? ''))
    if (typeof text === 'string' && Array.isArray(values) && !control.test(text)) {
      const name = statementName(text)
      if (name !== undefined) {
        args.splice(0, 2, { name, text, values })
      }
    }

    return (super.query as (...all: unknown[]) => unknown).apply(this, args)
  }

  /** As `query`, for a statement that was counted when it was asked for. */
  send(text: string, values: unknown[]): Promise<pg.QueryResult<Record<string, unknown>>> {
    return super.query({ name: statementName(text), text, values })
  }
}

// 64-bit ids stay below 2^53 here and are JSON numbers in the API; dates have no time zone and stay text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text)

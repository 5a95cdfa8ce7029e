import { Visibility } from '../../access/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import type { Open } from './opening.ts'

/** Whether everybody reads what is said of it, as far as the place and the thing go. */
export async function isPublic(db: Reader, { place, target }: Open<unknown>): Promise<boolean> {
  if (place.visibility !== Visibility.public) return false
  const { kind, id } = target
  switch (kind) {
    case 'Issue':
      return has(db, sql`select from issues i where i.id = ${id} and not i.confidential`)
    case 'Epic':
      return has(db, sql`select from epics e where e.id = ${id} and not e.confidential`)
    case 'Snippet':
      return has(db, sql`select from snippets s where s.id = ${id} and s.visibility = ${Visibility.public}`)
    default:
      return true
  }
}

async function has(db: Reader, query: ReturnType<typeof sql>): Promise<boolean> {
  return (await query.execute(db)).rows.length > 0
}

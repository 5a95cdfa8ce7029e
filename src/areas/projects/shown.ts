import type { Actor } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Texts } from '../markdown/index.ts'
import { contextOf, project, type ContextServices, type EntityContext, type ProjectForm } from './entities.ts'
import type { ProjectRow } from './rows.ts'
import * as store from './store.ts'

export interface ShowServices extends ContextServices {
  readonly texts: Pick<Texts, 'render'>
}

/** Projects as answers show them. */
export async function showProjects(
  { texts }: Pick<ShowServices, 'texts'>,
  rows: readonly ProjectRow[],
  form: ProjectForm,
  context: EntityContext,
): Promise<Record<string, unknown>[]> {
  if (form === 'basic') return rows.map((row) => project(row, form, context))
  return Promise.all(rows.map(async (row) => project(row, form, context, await descriptionHtml(texts, row))))
}

/** Without a reader: it is the same for all, costs no look into the database, and is rendered once. */
async function descriptionHtml(texts: ShowServices['texts'], row: ProjectRow): Promise<string> {
  const text = row.description ?? ''
  if (text.trim() === '') return ''
  const place = { kind: 'project', id: row.id, fullPath: row.full_path } as const
  return texts.render({ text, language: 'markdown', place })
}

/** A project as the answer to a change of it. */
export async function showChanged(
  services: ShowServices & { readonly db: Database },
  actor: Actor,
  id: number,
): Promise<Record<string, unknown>> {
  const row = await store.read(services.db.reader, actor, id)
  const [shown] = await showProjects(services, [row], 'full', contextOf(services, actor))
  return shown!
}

import type { Actor } from '../../access/index.ts'
import type { MergeRequestRow } from './rows.ts'
import type { MergeRequestServices } from './services.ts'

/** Title and description as HTML, with what this reader may see linked. */
export async function htmlOf(
  { texts }: Pick<MergeRequestServices, 'texts'>,
  reader: Actor,
  row: Pick<MergeRequestRow, 'title' | 'description' | 'project_id' | 'project_path'>,
): Promise<{ title_html: string; description_html: string }> {
  const place = { kind: 'project', id: row.project_id, fullPath: row.project_path } as const
  const render = (text: string): Promise<string> =>
    texts.render({ text, language: 'markdown', reader, place })
  const [title, description] = await Promise.all([render(oneLine(row.title)), render(row.description ?? '')])
  return { title_html: title.trim().replace(/^<p[^>]*>([\s\S]*)<\/p>$/, '$1'), description_html: description }
}

/** No heading, list or quotation: what would begin one is only a character of the title. */
function oneLine(title: string): string {
  return title
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?=[#>*+=~`|-])/, '\\')
    .replace(/^(\d+)(?=[.)])/, '$1\\')
}

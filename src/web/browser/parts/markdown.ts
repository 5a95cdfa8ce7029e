import { write } from '../api.ts'
import { tags } from '../dom.ts'
import { endpoint } from '../here.ts'
import { me } from '../session.ts'

const { div, pre } = tags

/**
 * A text in Markdown as its readers see it. The service renders it, and lets through only what is safe. For visitors, for
 * whom it renders nothing, the text is as it was written. `project`: where what the text names is looked for.
 */
export async function markdown(text: string, project?: string): Promise<HTMLElement> {
  if (text.trim() === '') return div({ className: 'prose' })
  if ((await me()) === undefined) return pre({ className: 'prose' }, text)
  const { html } = await write<{ html: string }>('POST', endpoint`/markdown`, { text, gfm: true, project })
  return prose(html)
}

/** Markup that the service has made safe. */
export function prose(html: string): HTMLElement {
  const made = div({ className: 'prose' })
  made.innerHTML = html
  return made
}

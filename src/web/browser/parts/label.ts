import { tags } from '../dom.ts'
import type { Label } from '../entities.ts'

/** A label in its colours. `href`: where the things with this label are listed. */
export function label({ name, color, text_color }: Label, href: string): HTMLElement {
  const made = tags.a({ className: 'label', href }, name)
  made.style.backgroundColor = color
  made.style.color = text_color
  return made
}

import { tags } from '../dom.ts'
import type { Person } from '../entities.ts'

const { img, span } = tags

/**
 * A picture of somebody or something, or the first letter of the name where there is none, or it does not come. It says
 * nothing on its own.
 */
export function avatar({ name, avatar_url: src }: Pick<Person, 'name' | 'avatar_url'>): HTMLElement {
  const letter = span({ className: 'avatar', 'aria-hidden': 'true' }, name.slice(0, 1).toUpperCase())
  if (src === null) return letter
  const picture = img({
    className: 'avatar',
    src,
    alt: '',
    loading: 'lazy',
    onerror: () => picture.replaceWith(letter),
  })
  return picture
}

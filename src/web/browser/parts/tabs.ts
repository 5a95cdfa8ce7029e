import { tags } from '../dom.ts'

/** Places beside one another, of which one is shown. */
export function tabs(
  label: string,
  places: readonly (readonly [name: string, href: string])[],
  current: string,
): HTMLElement {
  return tags.nav(
    { className: 'tabs', 'aria-label': label },
    places.map(([name, href]) =>
      tags.a({ href, 'aria-current': name === current ? 'page' : undefined }, name),
    ),
  )
}

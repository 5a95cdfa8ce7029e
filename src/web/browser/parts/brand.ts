import { tags } from '../dom.ts'
import { address } from '../here.ts'

const { a, img } = tags

/** At the start of the bar of each page: leads to the first one. */
export function brand(): HTMLElement {
  return a(
    { className: 'brand', href: address`/` },
    img({ src: address`/-/assets/icon.svg`, alt: '' }),
    'Guildhall',
  )
}

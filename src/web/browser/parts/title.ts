import { tags, type Child } from '../dom.ts'

const { a, div, h1 } = tags

/** What leads to making a new thing. */
interface Making {
  readonly words: string
  readonly href: string
}

/** The title of a list, with what leads to a new thing in it, for those who may make one. */
export function title(words: string, making: Making | false | undefined): Child {
  return div(
    { className: 'title' },
    h1(words),
    making && a({ className: 'button', href: making.href }, making.words),
  )
}

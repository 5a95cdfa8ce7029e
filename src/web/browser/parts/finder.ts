import { tags } from '../dom.ts'
import { query } from '../here.ts'

const { button, form, input, label, search } = tags

/** Asks for words that what is listed has to have in its name. */
export function finder(words: string): HTMLElement {
  return search(
    form(
      { className: 'filters' },
      label({ className: 'unseen', htmlFor: 'search' }, words),
      input({ id: 'search', name: 'search', type: 'search', placeholder: words, value: searched() ?? '' }),
      button({ type: 'submit' }, 'Find'),
    ),
  )
}

/** The words that the address asks for. */
export function searched(): string | undefined {
  return query.get('search') ?? undefined
}

import { nodes, tags, type Child } from './dom.ts'
import { brand } from './parts/brand.ts'

const { a, div, h1, h2, header, input, label, li, main, nav, p, search, section, span, ul } = tags

/** Something that is listed. */
export interface Listed {
  readonly view: HTMLElement
  /** What it is found by, in small letters. */
  readonly text: string
}

interface Section<T> {
  readonly rows: readonly T[]
  readonly view: HTMLElement
  readonly entry: HTMLElement
  readonly count: HTMLElement
}

/** What stands around a list. */
interface Surroundings {
  readonly title: string
  readonly about: readonly Child[]
  /** In the bar, beside the search. */
  readonly fields: readonly Child[]
  /** Below the list. */
  readonly below?: readonly Child[]
}

/** All there is of something, in sections beside their names, narrowed to what has every word that is searched. */
export class Listing<T extends Listed> {
  readonly #kind: string
  readonly #sectionKind: string
  readonly #isShown: (row: T, isFound: boolean) => boolean
  readonly #search: HTMLInputElement
  readonly #found = p({ id: 'found', role: 'status', className: 'soft' }, 'Loading…')
  readonly #list = div()
  readonly #titles = ul()
  #sections: readonly Section<T>[] = []

  /**
   * `kind` and `sectionKind`: what one of them, and one of their sections, is called. `examples`: of words to search.
   * `isShown`: what else hides or shows a row.
   */
  constructor({
    kind,
    sectionKind,
    examples,
    isShown = (_, isFound) => isFound,
  }: {
    readonly kind: string
    readonly sectionKind: string
    readonly examples: string
    readonly isShown?: (row: T, isFound: boolean) => boolean
  }) {
    this.#kind = kind
    this.#sectionKind = sectionKind
    this.#isShown = isShown
    this.#search = input({
      id: 'search',
      type: 'search',
      placeholder: `Search ${kind}s: ${examples}, …`,
      autocomplete: 'off',
      spellcheck: false,
      'aria-describedby': 'found',
      'aria-keyshortcuts': '/',
      oninput: () => this.narrow(),
    })
  }

  /** Makes it the page. */
  draw({ title, about, fields, below = [] }: Surroundings): void {
    const words = `${this.#kind}s`
    document.body.replaceChildren(
      a({ className: 'skip', href: '#content' }, `Skip to the ${words}`),
      header(
        { className: 'bar' },
        brand(),
        search(
          { className: 'field search' },
          label({ htmlFor: 'search', className: 'unseen' }, `Search ${words}`),
          this.#search,
        ),
        ...nodes(fields),
      ),
      div(
        { className: 'columns' },
        nav({ className: 'groups', 'aria-label': `${words} by ${this.#sectionKind}` }, this.#titles),
        main(
          { className: 'endpoints', id: 'content', tabIndex: -1 },
          h1(title),
          about,
          this.#found,
          this.#list,
          below,
        ),
      ),
    )
    document.addEventListener('keydown', (event) => this.#listen(event))
  }

  get rows(): readonly T[] {
    return this.#sections.flatMap(({ rows }) => rows)
  }

  /** Rows by the titles of their sections. */
  show(sections: ReadonlyMap<string, readonly T[]>): void {
    this.#sections = [...sections].map(([title, rows]) => {
      const id = `${this.#sectionKind}-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
      const count = span({ className: 'count' })
      return {
        rows,
        count,
        view: section(
          { className: 'group', 'aria-labelledby': id },
          h2({ id }, title),
          rows.map(({ view }) => view),
        ),
        entry: li(a({ href: `#${id}` }, title, count)),
      }
    })
    this.#list.replaceChildren(...this.#sections.map(({ view }) => view))
    this.#titles.replaceChildren(...this.#sections.map(({ entry }) => entry))
    this.narrow()
  }

  /** Hides what is not searched for. */
  narrow(): void {
    const words = this.#search.value.toLowerCase().split(/\s+/)
    let total = 0
    for (const { rows, view, entry, count } of this.#sections) {
      const shown = rows.filter((row) => {
        const isShown = this.#isShown(
          row,
          words.every((word) => row.text.includes(word)),
        )
        row.view.hidden = !isShown
        return isShown
      })
      view.hidden = entry.hidden = shown.length === 0
      count.textContent = String(shown.length)
      total += shown.length
    }
    this.#found.textContent = `${total} ${this.#kind}${total === 1 ? '' : 's'}`
  }

  /** Says this in place of a list. */
  tell(...words: readonly Child[]): void {
    this.show(new Map())
    this.#found.replaceChildren(...nodes(words))
  }

  #listen(event: KeyboardEvent): void {
    const target = event.target as Element
    const isTyping = target.closest('input, textarea, select') !== null
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault()
      this.#search.focus()
      this.#search.select()
    } else if (event.key === 'Escape' && target === this.#search) {
      this.#search.value = ''
      this.narrow()
    }
  }
}

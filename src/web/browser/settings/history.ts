import { readPage, write } from '../api.ts'
import { tags } from '../dom.ts'
import { settingsAt, type Revision } from './catalogue.ts'
import { changeList } from './changes.ts'
import type { Proposal } from './confirmation.ts'

const { button, details, li, ol, summary, time } = tags

/** Every change there was, the newest first; read when it is opened. */
export class History {
  readonly view: HTMLDetailsElement
  readonly #revisions = ol({ className: 'revisions' })
  readonly #older = button(
    { type: 'button', hidden: true, onclick: () => void this.#show(this.#next) },
    'Older ones',
  )
  readonly #propose: (proposal: Proposal) => void
  #next = 1

  constructor(propose: (proposal: Proposal) => void) {
    this.#propose = propose
    this.view = details(
      {
        id: 'history',
        hidden: true,
        ontoggle: () => {
          if (this.view.open) void this.#show(1)
        },
      },
      summary('History'),
      this.#revisions,
      this.#older,
    )
  }

  async #show(page: number): Promise<void> {
    if (page === 1) this.#revisions.replaceChildren()
    try {
      const { items, hasNext } = await readPage<Revision>(`${settingsAt}/history`, { per_page: 20, page })
      this.#revisions.append(...items.map((revision) => this.#revision(revision)))
      if (this.#revisions.childElementCount === 0) this.#revisions.append(li('Nothing was changed yet.'))
      this.#older.hidden = !hasNext
      this.#next = page + 1
    } catch (error) {
      this.#revisions.append(li((error as Error).message))
    }
  }

  #revision({ id, created_at: when, user, restores, changes }: Revision): HTMLElement {
    const restore = (): void =>
      this.#propose({
        question: `Bring all settings back to how they were after revision ${id}?`,
        label: 'Bring back',
        send: (options) => write('POST', `${settingsAt}/rollback`, { revision: id, ...options }),
      })
    return li(
      time({ dateTime: when }, new Date(when).toLocaleString()),
      ` by ${user?.name ?? 'the service'}`,
      restores !== null && `, back to revision ${restores}`,
      ' ',
      button({ type: 'button', onclick: restore }, 'Back to this'),
      changeList(changes),
    )
  }
}

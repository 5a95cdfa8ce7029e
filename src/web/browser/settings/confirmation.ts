import { nodes, tags, type Child } from '../dom.ts'
import type { Foreseen } from './catalogue.ts'
import { changeList } from './changes.ts'

const { button, dialog, div, form, h2, input, label, p } = tags

/** What is sent with a change besides the settings, as `dry_run`. */
export type Options = Readonly<Record<string, boolean>>

/** Something that changes settings. */
export interface Proposal {
  readonly question: string
  /** Of the button that does it. */
  readonly label: string
  /** Answers what would change, where the options have `dry_run`. */
  readonly send: (options: Options) => Promise<unknown>
  /** What can be done besides, where these changes come: the option, and its words. */
  readonly offer?: (changes: readonly Foreseen[]) => readonly [option: string, words: string] | undefined
}

interface Told {
  readonly question: string
  readonly content: readonly Child[]
  readonly refusal?: string
  /** What the main button does, if there is one. */
  readonly act?: { readonly label: string; readonly work: () => Promise<void> } | undefined
}

/** Shows what would change before it does. */
export class Confirmation {
  readonly view = dialog({ 'aria-labelledby': 'question' })
  readonly #saved: () => Promise<void>
  readonly #refused: (error: unknown) => void

  /** `saved`: does what follows. `refused`: is told of what cannot be done. */
  constructor(saved: () => Promise<void>, refused: (error: unknown) => void) {
    this.#saved = saved
    this.#refused = refused
  }

  async foresee({ question, label: words, send, offer }: Proposal): Promise<void> {
    try {
      const { changes } = (await send({ dry_run: true })) as { readonly changes: readonly Foreseen[] }
      const offered = offer?.(changes)
      const chosen = input({ type: 'checkbox' })
      const work = async (): Promise<void> => {
        await send(offered === undefined ? {} : { [offered[0]]: chosen.checked })
        this.view.close()
        await this.#saved()
      }
      this.#tell({
        question,
        content: [
          changes.length === 0 ? 'Nothing would change.' : changeList(changes),
          offered !== undefined && label({ className: 'choice' }, chosen, ` ${offered[1]}`),
        ],
        act: changes.length === 0 ? undefined : { label: words, work },
      })
    } catch (error) {
      this.#refused(error)
      this.refuse('This is refused', error)
    }
  }

  refuse(question: string, error: unknown): void {
    this.#tell({ question, content: [], refusal: (error as Error).message })
  }

  #tell({ question, content, refusal = '', act }: Told): void {
    const refused = p({ role: 'alert' }, refusal)
    const press = (): void => {
      act?.work().catch((error: unknown) => (refused.textContent = (error as Error).message))
    }
    this.view.replaceChildren(
      h2({ id: 'question' }, question),
      div(...nodes(content)),
      refused,
      form(
        { method: 'dialog', className: 'actions' },
        act !== undefined && button({ type: 'button', className: 'main', onclick: press }, act.label),
        button(act === undefined ? 'Back to the settings' : 'Cancel'),
      ),
    )
    this.view.showModal()
  }
}

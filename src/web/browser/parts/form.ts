import { tags, type Child } from '../dom.ts'
import { attempt, faultText } from './action.ts'

const { button, datalist, input, label, option, p, select, small, span, textarea } = tags

/** What is asked for: a line, a text in Markdown, one of a few things, or a day. */
export interface Field {
  readonly name: string
  readonly words: string
  readonly kind?: 'line' | 'text' | 'choice' | 'day'
  readonly value?: string
  readonly required?: boolean
  readonly hint?: string
  /** Of a choice: what there is. Of a line: what may be meant. */
  readonly choices?: readonly Choice[]
}

/** What is sent, and what people read. */
export type Choice = readonly [value: string, words: string]

/** Asks for some things, and does something with them; says so where that is refused. After that it is empty again. */
export function form(
  fields: readonly Field[],
  words: string,
  work: (values: Readonly<Record<string, string>>) => Promise<void>,
): HTMLFormElement {
  const fault = faultText()
  const submit = button({ type: 'submit', className: 'main' }, words)
  const made = tags.form(
    {
      className: 'fields',
      onsubmit: (event: Event) => {
        event.preventDefault()
        const values = Object.fromEntries(
          [...new FormData(made)].filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
        )
        const send = async (): Promise<void> => {
          await work(values)
          made.reset()
        }
        void attempt(send, submit, fault)
      },
    },
    fields.map((field) => label(span(field.words), control(field), field.hint && small(field.hint))),
    p({ className: 'actions' }, submit, fault),
  )
  return made
}

function control({ name, kind = 'line', value = '', required = false, choices }: Field): Child {
  if (kind === 'text') return textarea({ name, required, defaultValue: value })
  if (kind === 'choice') {
    const options = choices?.map(([one, words]) => {
      const made = option({ value: one }, words)
      made.toggleAttribute('selected', one === value)
      return made
    })
    return select({ name }, options)
  }
  const type = kind === 'day' ? 'date' : 'text'
  const line = input({ type, name, required, defaultValue: value, autocomplete: 'off' })
  if (choices === undefined) return line
  const id = `${name}-choices`
  // The property of this name can only be read.
  line.setAttribute('list', id)
  return [
    line,
    datalist(
      { id },
      choices.map(([one, words]) => option({ value: one }, words)),
    ),
  ]
}

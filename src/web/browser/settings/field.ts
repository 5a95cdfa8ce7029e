import { tags } from '../dom.ts'
import { typesOf, typeText, type Constant, type Schema } from '../schema.ts'
import type { Setting } from './catalogue.ts'

const { div, input, label, option, select, textarea } = tags

/** What the value of a setting is typed into. */
export interface Field {
  readonly view: HTMLElement
  /** Of the view, what is labelled, and has the focus. */
  readonly control: HTMLElement
  /** Tells whether two values are the same. */
  readonly state: () => string
  /** The value to send; throws where it cannot be read. */
  readonly read: () => unknown
  /** Brings back the value that it had first. */
  readonly reset: () => void
}

/** What all of them have. */
type Common = Readonly<Record<string, string | boolean>>

export function fieldFor({ name, schema, secret }: Setting, value: unknown): Field {
  const id = `setting-${name}`
  const types = typesOf(schema)
  const common = { id, 'aria-describedby': `${id}-about`, spellcheck: false, autocomplete: 'off' }
  if (secret) return secretField(common)
  if (types[0] === 'boolean' && types.length === 1) return switchField(common, value as boolean)
  const listed = schema.enum ?? (types[0] === 'boolean' ? [true, false, null] : undefined)
  if (listed !== undefined) return choiceField(common, listed, value)
  if (types.includes('string')) return plainField(common, schema, (value ?? '') as string)
  if (types.includes('integer') || types.includes('number'))
    return numberField(common, schema, value as number | null)
  if (types.includes('array')) {
    const values = value as readonly Constant[]
    return schema.items?.enum === undefined
      ? linesField(common, values)
      : choicesField(id, schema.items.enum, values)
  }
  return jsonField(name, common, value)
}

/** What fits into a field, in a few words. */
export function hintOf(schema: Schema): string {
  const { minimum, maximum, maxLength, items } = schema
  const types = typesOf(schema)
  if (schema.enum !== undefined || items?.enum !== undefined || types.includes('boolean')) return ''
  const hints = [
    types.includes('array') && 'one per line',
    types.includes('object') && `JSON: ${typeText(schema)}`,
    types.includes('integer') && 'whole number',
    types.includes('number') && 'number',
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    types.includes('null') && 'empty for none',
  ]
  return hints.filter((hint) => hint !== false).join(', ')
}

/** What is stored is not shown: it stays, is replaced by what is typed, or is cleared. */
function secretField(common: Common): Field {
  const control = input({ ...common, type: 'password', placeholder: 'a new value' })
  const clears = input({ type: 'checkbox', oninput: () => (control.disabled = clears.checked) })
  const read = (): string | null => (clears.checked ? null : control.value)
  return {
    view: div(control, label({ className: 'choice' }, clears, 'Clear what is stored')),
    control,
    state: () => JSON.stringify(read()),
    read,
    reset() {
      control.value = ''
      clears.checked = control.disabled = false
    },
  }
}

function switchField(common: Common, value: boolean): Field {
  const control = input({ ...common, type: 'checkbox', checked: value })
  return {
    view: control,
    control,
    state: () => String(control.checked),
    read: () => control.checked,
    reset: () => (control.checked = value),
  }
}

function choiceField(common: Common, listed: readonly Constant[], value: unknown): Field {
  const control = select(
    common,
    listed.map((one) =>
      option({ value: JSON.stringify(one), selected: one === value }, String(one ?? 'none')),
    ),
  )
  return {
    view: control,
    control,
    state: () => control.value,
    read: () => JSON.parse(control.value) as unknown,
    reset: () => (control.value = JSON.stringify(value)),
  }
}

/** Any of some. */
function choicesField(id: string, listed: readonly Constant[], values: readonly Constant[]): Field {
  const boxes = listed.map((one) =>
    input({ type: 'checkbox', value: String(one), checked: values.includes(one) }),
  )
  const control = div(
    { id, role: 'group', className: 'choices', tabIndex: -1, 'aria-labelledby': `${id}-title` },
    boxes.map((box) => label(box, box.value)),
  )
  const read = (): string[] => boxes.filter((box) => box.checked).map((box) => box.value)
  return {
    view: control,
    control,
    state: () => read().join(),
    read,
    reset: () => boxes.forEach((box) => (box.checked = values.includes(box.value))),
  }
}

function plainField(common: Common, { maxLength = Infinity }: Schema, text: string): Field {
  const isLong = maxLength > 255 || text.includes('\n')
  return typedField(
    isLong ? textarea({ ...common, rows: rowsFor(text) }) : input({ ...common, type: 'text' }),
    text,
    (typed) => typed,
  )
}

function numberField(common: Common, schema: Schema, value: number | null): Field {
  const { minimum: min, maximum: max } = schema
  const step = typesOf(schema).includes('integer') ? '1' : 'any'
  return typedField(input({ ...common, type: 'number', min, max, step }), String(value ?? ''), (typed) =>
    typed === '' ? null : Number(typed),
  )
}

/** A list, an entry in each line. */
function linesField(common: Common, values: readonly Constant[]): Field {
  const text = values.join('\n')
  const read = (typed: string): string[] =>
    typed
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  const field = typedField(textarea({ ...common, rows: rowsFor(text) }), text, read)
  return { ...field, state: () => JSON.stringify(field.read()) }
}

function jsonField(name: string, common: Common, value: unknown): Field {
  const text = JSON.stringify(value, null, 2)
  return typedField(textarea({ ...common, rows: rowsFor(text) }), text, (typed) => {
    try {
      return JSON.parse(typed) as unknown
    } catch {
      throw new Error(`${name} is not JSON`)
    }
  })
}

function typedField(
  control: HTMLInputElement | HTMLTextAreaElement,
  text: string,
  read: (typed: string) => unknown,
): Field {
  control.value = text
  return {
    view: control,
    control,
    state: () => control.value,
    read: () => read(control.value),
    reset: () => (control.value = text),
  }
}

function rowsFor(text: string): number {
  return Math.min(12, text.split('\n').length)
}

import { tags } from '../dom.ts'
import type { Listed } from '../listing.ts'
import { withCode } from '../parts/with-code.ts'
import { valueText, type Setting } from './catalogue.ts'
import { fieldFor, hintOf, type Field } from './field.ts'

const { code, div, label, li, p, small, ul } = tags

/** A setting with a field for its value. */
export class SettingRow implements Listed {
  readonly setting: Setting
  readonly view: HTMLElement
  readonly text: string
  /** Whether it is not as by default. */
  readonly isAltered: boolean
  readonly #field: Field
  readonly #initial: string
  readonly #fault: HTMLElement
  readonly #touched: () => void

  /** `onTouched` is called whenever the value may have changed. */
  constructor(setting: Setting, value: unknown, onTouched: () => void) {
    const { name, about, schema, secret } = setting
    const title = titleOf(name)
    const field = fieldFor(setting, value)
    const { id } = field.control
    this.setting = setting
    this.text = `${name} ${title} ${about}`.toLowerCase()
    this.isAltered = !secret && sorted(value) !== sorted(setting.default)
    this.#field = field
    this.#initial = field.state()
    this.#fault = p({ id: `${id}-fault`, className: 'fault', hidden: true })
    this.#touched = () => {
      this.refuse('')
      this.view.classList.toggle('changed', this.isChanged)
      onTouched()
    }
    const hint = secret ? '' : hintOf(schema)
    this.view = div(
      { className: 'setting', oninput: this.#touched },
      div(
        label({ id: `${id}-title`, htmlFor: id }, title),
        code(name),
        p({ id: `${id}-about` }, withCode(about)),
        facts(setting, this.isAltered),
      ),
      div(field.view, hint !== '' && small(hint), this.#fault),
    )
  }

  get name(): string {
    return this.setting.name
  }

  get isChanged(): boolean {
    return this.#field.state() !== this.#initial
  }

  get isRefused(): boolean {
    return !this.#fault.hidden
  }

  /** Whether there is a value to send: secrets are not shown, so there is one only where it was typed in. */
  get isKnown(): boolean {
    return !this.setting.secret || this.isChanged
  }

  /** The value to send; throws where it cannot be read. */
  read(): unknown {
    return this.#field.read()
  }

  /** Says why the value was refused; an empty text takes that back. */
  refuse(words: string): void {
    this.#fault.textContent = words
    this.#fault.hidden = words === ''
    this.#field.control.setAttribute('aria-invalid', String(words !== ''))
  }

  reset(): void {
    this.#field.reset()
    this.#touched()
  }

  focus(): void {
    this.#field.control.focus()
  }
}

function facts(
  { plan, secret, recorded, needs, default: fallback }: Setting,
  isAltered: boolean,
): HTMLElement {
  return ul(
    { className: 'facts' },
    plan !== null && li(plan),
    secret && li('secret'),
    recorded && li('stored only, for clients to read'),
    needs !== null && li(`stored only: it would need a ${needs}`),
    isAltered && li('by default ', code(valueText(fallback))),
  )
}

const short = new Set(
  'api aws ci dns dsa ecdsa ed25519 eks html http id ip ips json kb lfs mb npm ldap rsa ssh ui uml url yaml'.split(
    ' ',
  ),
)

/** `ci_max_includes` is “CI max includes”. */
function titleOf(name: string): string {
  const title = name
    .split('_')
    .map((word) => (short.has(word) ? word.toUpperCase() : word))
    .join(' ')
  return title.slice(0, 1).toUpperCase() + title.slice(1)
}

/** As JSON; the order of keys says nothing. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

import { element, prose } from './dom.js'
import { fieldFor, hintOf } from './setting-field.js'

/** A setting with a field for its value. `onChange` is called whenever that is touched. */
export function settingView(setting, value, onChange) {
  const { name, about, schema, secret, companions } = setting
  const title = titleOf(name)
  const isAltered = !secret && sorted(value) !== sorted(setting.default)
  const field = fieldFor(setting, value)
  const { input } = field
  const initial = field.state()
  const isChanged = () => field.state() !== initial
  const fault = element('p', { id: `${input.id}-fault`, className: 'fault', hidden: true })
  const touched = () => {
    refuse('')
    view.classList.toggle('changed', isChanged())
    onChange()
  }
  /** Says why the value was refused; an empty text takes that back. */
  const refuse = (text) => {
    fault.textContent = text
    fault.hidden = text === ''
    input.setAttribute('aria-invalid', String(text !== ''))
  }
  input.addEventListener('input', touched)
  const hint = secret ? '' : hintOf(schema)
  const view = element(
    'div',
    { className: 'setting' },
    element(
      'div',
      {},
      element('label', { id: `${input.id}-title`, htmlFor: input.id }, title),
      element('code', {}, name),
      element('p', { id: `${input.id}-about` }, prose(about)),
      facts(setting, isAltered),
    ),
    element('div', {}, input, hint !== '' && element('small', {}, hint), fault),
  )
  return {
    name,
    view,
    input,
    companions,
    isAltered,
    isChanged,
    isRefused: () => !fault.hidden,
    isOn: () => input.type === 'checkbox' && input.checked,
    /** Whether there is a value to send: secrets are not shown, so there is one only where it was typed in. */
    isKnown: () => !secret || isChanged(),
    text: `${name} ${title} ${about}`.toLowerCase(),
    /** The value to send; throws where it cannot be read. */
    read: field.read,
    refuse,
    reset() {
      field.reset()
      touched()
    },
  }
}

function facts(setting, isAltered) {
  const { plan, secret, recorded, needs } = setting
  return element(
    'ul',
    { className: 'facts' },
    plan !== null && element('li', {}, plan),
    secret && element('li', {}, 'secret'),
    recorded && element('li', {}, 'stored only, for clients to read'),
    needs !== null && element('li', {}, `stored only: it would need a ${needs}`),
    isAltered && element('li', {}, 'by default ', element('code', {}, valueText(setting.default))),
  )
}

const short = new Set(
  'api aws ci dns dsa ecdsa ed25519 eks html http id ip ips json kb lfs mb npm ldap rsa ssh ui uml url yaml'.split(
    ' ',
  ),
)

/** `ci_max_includes` is “CI max includes”. */
function titleOf(name) {
  const words = name.split('_').map((word) => (short.has(word) ? word.toUpperCase() : word))
  const title = words.join(' ')
  return title[0].toUpperCase() + title.slice(1)
}

export function valueText(value) {
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** As JSON; the order of keys says nothing. */
function sorted(value) {
  return JSON.stringify(value, (_, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

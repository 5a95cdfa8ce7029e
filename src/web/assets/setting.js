import { element } from './dom.js'
import { typeText } from './schema.js'

/** A setting with a field for its value. `onChange` is called whenever that is touched. */
export function settingView(setting, value, onChange) {
  const { name, about, schema, plan, secret, recorded, needs } = setting
  const isAltered = !secret && sorted(value) !== sorted(setting.default)
  const field = fieldFor(setting, value)
  const { input } = field
  const initial = field.state()
  const isChanged = () => field.state() !== initial
  const touched = () => {
    view.classList.toggle('changed', isChanged())
    onChange()
  }
  input.addEventListener('input', touched)
  const view = element(
    'div',
    { className: 'setting' },
    element(
      'div',
      {},
      element('label', { htmlFor: input.id }, element('code', {}, name)),
      element('p', { id: `${input.id}-about` }, about),
      element(
        'ul',
        { className: 'facts' },
        plan !== null && element('li', {}, plan),
        secret && element('li', {}, 'secret'),
        recorded && element('li', {}, 'stored only, for clients to read'),
        needs !== null && element('li', {}, `stored only: it would need a ${needs}`),
        isAltered && element('li', {}, 'by default ', element('code', {}, valueText(setting.default))),
      ),
    ),
    element('div', {}, input, input.type !== 'checkbox' && element('small', {}, boundsText(schema))),
  )
  return {
    name,
    view,
    isAltered,
    isChanged,
    text: `${name} ${about}`.toLowerCase(),
    /** The value to send; throws where it cannot be read. */
    read: field.read,
    reset() {
      field.reset()
      touched()
    },
  }
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

function boundsText(schema) {
  const { minimum, maximum } = schema
  const bounds = [
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
  ]
  return [typeText(schema, {}), ...bounds.filter((bound) => bound !== false)].join(', ')
}

/** `state` tells whether two values are the same. */
function fieldFor({ name, schema, secret }, value) {
  const id = `setting-${name}`
  const types = [schema.type].flat()
  const common = { id, 'aria-describedby': `${id}-about`, spellcheck: false, autocomplete: 'off' }
  if (secret)
    return textField(element('input', { ...common, type: 'password', placeholder: 'a new value' }), '')
  if (types[0] === 'boolean' && types.length === 1) {
    const input = element('input', { ...common, type: 'checkbox', checked: value })
    return {
      input,
      state: () => input.checked,
      read: () => input.checked,
      reset: () => (input.checked = value),
    }
  }
  const listed = schema.enum ?? (types[0] === 'boolean' ? [true, false, null] : undefined)
  if (listed !== undefined) {
    const choices = listed.map((one) =>
      element('option', { value: JSON.stringify(one), selected: one === value }, String(one ?? 'none')),
    )
    const input = element('select', common, choices)
    const read = () => JSON.parse(input.value)
    return { input, state: () => input.value, read, reset: () => (input.value = JSON.stringify(value)) }
  }
  if (types.includes('string')) {
    const long = schema.maxLength === undefined || schema.maxLength > 255 || value?.includes('\n')
    const input = long
      ? element('textarea', { ...common, rows: Math.min(12, (value ?? '').split('\n').length) })
      : element('input', { ...common, type: 'text' })
    return textField(input, value ?? '')
  }
  if (types.includes('integer') || types.includes('number')) {
    const { minimum: min, maximum: max } = schema
    const step = types.includes('integer') ? '1' : 'any'
    const input = element('input', { ...common, type: 'number', min, max, step })
    return {
      ...textField(input, String(value ?? '')),
      read: () => (input.value === '' ? null : Number(input.value)),
    }
  }
  return jsonField(name, element('textarea', common), value)
}

function textField(input, text) {
  input.value = text
  return {
    input,
    state: () => input.value,
    read: () => input.value,
    reset: () => (input.value = text),
  }
}

/** Lists and hashes. */
function jsonField(name, input, value) {
  const text = JSON.stringify(value, null, 2)
  input.rows = Math.min(12, text.split('\n').length)
  return {
    ...textField(input, text),
    read() {
      try {
        return JSON.parse(input.value)
      } catch {
        throw new Error(`${name} is not JSON`)
      }
    },
  }
}

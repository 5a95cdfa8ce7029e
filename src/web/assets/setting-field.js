import { element } from './dom.js'
import { typeText } from './schema.js'

/**
 * What the value of a setting is typed into. `state` tells whether two values are the same; `read` is the value to send,
 * and throws where it cannot be read.
 */
export function fieldFor({ name, schema, secret }, value) {
  const id = `setting-${name}`
  const types = [schema.type].flat()
  const common = { id, 'aria-describedby': `${id}-about`, spellcheck: false, autocomplete: 'off' }
  if (secret) {
    return textField(element('input', { ...common, type: 'password', placeholder: 'a new value' }), '')
  }
  if (types[0] === 'boolean' && types.length === 1) return switchField(common, value)
  const listed = schema.enum ?? (types[0] === 'boolean' ? [true, false, null] : undefined)
  if (listed !== undefined) return choiceField(common, listed, value)
  if (types.includes('string')) {
    const long = schema.maxLength === undefined || schema.maxLength > 255 || value?.includes('\n')
    const input = long
      ? element('textarea', { ...common, rows: rowsFor(value ?? '') })
      : element('input', { ...common, type: 'text' })
    return textField(input, value ?? '')
  }
  if (types.includes('integer') || types.includes('number')) return numberField(common, schema, value)
  if (types.includes('array')) {
    return schema.items.enum === undefined
      ? linesField(element('textarea', common), value)
      : choicesField(id, schema.items.enum, value)
  }
  return jsonField(name, element('textarea', common), value)
}

/** What fits into a field, in a few words. */
export function hintOf(schema) {
  const { minimum, maximum, maxLength, items } = schema
  const types = [schema.type].flat()
  if (schema.enum !== undefined || items?.enum !== undefined || types.includes('boolean')) return ''
  const is = (...names) => names.some((name) => types.includes(name))
  return [
    is('array') && 'one per line',
    is('object') && `JSON: ${typeText(schema, {})}`,
    is('integer') && 'whole number',
    is('number') && 'number',
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    is('null') && 'empty for none',
  ]
    .filter((part) => part !== false)
    .join(', ')
}

function rowsFor(text) {
  return Math.min(12, text.split('\n').length)
}

function switchField(common, value) {
  const input = element('input', { ...common, type: 'checkbox', checked: value })
  return {
    input,
    state: () => input.checked,
    read: () => input.checked,
    reset: () => (input.checked = value),
  }
}

function choiceField(common, listed, value) {
  const choices = listed.map((one) =>
    element('option', { value: JSON.stringify(one), selected: one === value }, String(one ?? 'none')),
  )
  const input = element('select', common, choices)
  return {
    input,
    state: () => input.value,
    read: () => JSON.parse(input.value),
    reset: () => (input.value = JSON.stringify(value)),
  }
}

/** Any of some. */
function choicesField(id, listed, value) {
  const boxes = listed.map((one) =>
    element('input', { type: 'checkbox', value: one, checked: value.includes(one) }),
  )
  const input = element(
    'div',
    { id, role: 'group', className: 'choices', tabIndex: -1, 'aria-labelledby': `${id}-title` },
    boxes.map((box) => element('label', {}, box, box.value)),
  )
  const read = () => boxes.filter((box) => box.checked).map((box) => box.value)
  const reset = () => boxes.forEach((box) => (box.checked = value.includes(box.value)))
  return { input, state: () => read().join(), read, reset }
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

function numberField(common, schema, value) {
  const { minimum: min, maximum: max } = schema
  const step = [schema.type].flat().includes('integer') ? '1' : 'any'
  const input = element('input', { ...common, type: 'number', min, max, step })
  return {
    ...textField(input, String(value ?? '')),
    read: () => (input.value === '' ? null : Number(input.value)),
  }
}

/** A list, an entry in each line. */
function linesField(input, value) {
  const text = value.join('\n')
  input.rows = rowsFor(text)
  const read = () =>
    input.value
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  return { ...textField(input, text), state: () => read().join('\n'), read }
}

function jsonField(name, input, value) {
  const text = JSON.stringify(value, null, 2)
  input.rows = rowsFor(text)
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

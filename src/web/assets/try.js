import { element } from './dom.js'
import { typeText } from './schema.js'

/** A form that calls the endpoint with what is filled in, and shows what comes back. */
export function tryForm({ method, path, operation }, params, api) {
  const fields = params.map((param) => ({
    param,
    input: inputFor(param, operation.operationId, api.document),
  }))
  const result = element('div', { className: 'result', role: 'status', hidden: true })
  const form = element(
    'form',
    { className: 'try', onsubmit: send },
    fields.map(({ param, input }) =>
      element(
        'div',
        { className: 'param' },
        element(
          'label',
          { htmlFor: input.id },
          param.name,
          param.required && element('span', { className: 'required' }, ' *'),
        ),
        input,
      ),
    ),
    element(
      'div',
      { className: 'actions' },
      element('button', { type: 'submit', className: 'main' }, `Send ${method}`),
      element('button', { type: 'button', onclick: copyCommand }, 'Copy as curl'),
    ),
  )
  return element('div', {}, form, result)

  function request() {
    const query = []
    const body = {}
    const files = []
    let target = path
    for (const { param, input } of fields) {
      if (input.type === 'file') {
        if (input.files.length > 0) files.push([param.name, input.files[0]])
        continue
      }
      if (input.value === '') {
        if (param.in === 'path') throw new Error(`${param.name} is needed`)
        continue
      }
      const value = readValue(param, input.value)
      if (param.in === 'path') target = target.replace(`{${param.name}}`, encodeURIComponent(input.value))
      else if (param.in === 'query') query.push(...pairs(param.name, value))
      else body[param.name] = value
    }
    const search = query.length > 0 ? `?${query.join('&')}` : ''
    return { address: `${api.base}${target}${search}`, body, files }
  }

  function options({ body, files }, token) {
    const headers = token === '' ? {} : { 'PRIVATE-TOKEN': token }
    if (files.length > 0) {
      const data = new FormData()
      for (const [name, value] of Object.entries(body)) data.append(name, value)
      for (const [name, file] of files) data.append(name, file)
      return { method, headers, body: data }
    }
    if (Object.keys(body).length === 0) return { method, headers }
    return { method, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  }

  async function send(event) {
    event.preventDefault()
    result.hidden = false
    result.replaceChildren('Sending…')
    try {
      const wanted = request()
      const startedAt = performance.now()
      const response = await fetch(wanted.address, { ...options(wanted, api.token()), credentials: 'omit' })
      const text = await response.text()
      const milliseconds = Math.round(performance.now() - startedAt)
      result.replaceChildren(
        element(
          'div',
          {},
          element(
            'span',
            { className: `status ${response.ok ? 'good' : 'bad'}` },
            `${response.status} ${response.statusText}`,
          ),
          element('span', { className: 'soft' }, ` in ${milliseconds} ms`),
        ),
        text === ''
          ? element('div', { className: 'soft' }, 'No body.')
          : element('pre', { tabIndex: 0 }, pretty(text)),
        element(
          'details',
          {},
          element('summary', {}, 'Headers'),
          element(
            'pre',
            { tabIndex: 0 },
            [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
          ),
        ),
      )
    } catch (error) {
      result.replaceChildren(element('span', { className: 'status bad' }, error.message))
    }
  }

  /** The token itself stays out of the command: `$TOKEN` stands for it. */
  async function copyCommand(event) {
    const button = event.currentTarget
    try {
      const wanted = request()
      const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method])]
      if (api.token() !== '') parts.push('-H "PRIVATE-TOKEN: $TOKEN"')
      if (wanted.files.length > 0) {
        for (const [name, value] of Object.entries(wanted.body)) parts.push('-F', quoted(`${name}=${value}`))
        for (const [name, file] of wanted.files) parts.push('-F', quoted(`${name}=@${file.name}`))
      } else if (Object.keys(wanted.body).length > 0) {
        parts.push('-H', quoted('Content-Type: application/json'), '-d', quoted(JSON.stringify(wanted.body)))
      }
      await navigator.clipboard.writeText(
        [...parts, quoted(new URL(wanted.address, location.href).href)].join(' '),
      )
      button.textContent = 'Copied'
    } catch (error) {
      button.textContent = error.message
    }
    setTimeout(() => (button.textContent = 'Copy as curl'), 1500)
  }
}

function inputFor({ name, schema, required }, operationId, document) {
  const id = `${operationId}-${name}`
  const type = [schema.type].flat()[0]
  const listed = schema.enum ?? (type === 'boolean' ? [true, false] : undefined)
  if (listed !== undefined) {
    const choices = ['', ...listed].map((value) =>
      element('option', { value: String(value) }, value === '' ? 'not sent' : String(value ?? 'null')),
    )
    return element('select', { id, required }, choices)
  }
  if (schema.format === 'binary') return element('input', { id, type: 'file', required })
  const placeholder = typeText(schema, document)
  if (type === 'object' || type === 'array') {
    const as = type === 'array' ? '["a", "b"]' : '{"key": "value"}'
    return element('textarea', {
      id,
      rows: 2,
      required,
      placeholder: `${placeholder}, as JSON: ${as}`,
      spellcheck: false,
    })
  }
  const inputMode = type === 'integer' ? 'numeric' : undefined
  return element('input', {
    id,
    type: 'text',
    required,
    placeholder,
    inputMode,
    autocomplete: 'off',
    spellcheck: false,
  })
}

/** Numbers and flags go as what they are; what cannot be read goes as text, to see what the service says to it. */
function readValue({ schema }, text) {
  const type = [schema.type].flat()[0]
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A value in bracket notation. A list's own name already ends in `[]`. */
function pairs(name, value) {
  if (Array.isArray(value))
    return value.flatMap((one) => pairs(name.endsWith('[]') ? name : `${name}[]`, one))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, one]) => pairs(`${name}[${key}]`, one))
  }
  return [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`]
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

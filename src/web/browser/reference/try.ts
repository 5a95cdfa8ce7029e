import { nodes, tags, type Child } from '../dom.ts'
import { endpoint as endpointAt } from '../here.ts'
import { token } from '../parts/token-field.ts'
import { typesOf, typeText } from '../schema.ts'
import type { Endpoint, Param } from './document.ts'

const { button, details, div, form, input, label, option, pre, select, span, summary, textarea } = tags

interface Field {
  readonly param: Param
  readonly input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
}

/** What is filled in. */
interface Wanted {
  readonly address: string
  readonly body: Readonly<Record<string, unknown>>
  readonly files: readonly (readonly [name: string, file: File])[]
}

/** A form that calls the endpoint with what is filled in, and shows what comes back. */
export function tryForm({ method, path, operation }: Endpoint, params: readonly Param[]): HTMLElement {
  const fields = params.map((param) => ({ param, input: inputFor(param, operation.operationId) }))
  const result = div({ className: 'result', role: 'status', hidden: true })
  const copy = button({ type: 'button', onclick: () => void copyCommand() }, 'Copy as curl')
  return div(
    form(
      { className: 'try', onsubmit: send },
      fields.map(({ param, input: field }) =>
        div(
          { className: 'param' },
          label(
            { htmlFor: field.id },
            param.name,
            param.required === true && span({ className: 'required' }, ' *'),
          ),
          field,
        ),
      ),
      div({ className: 'actions' }, button({ type: 'submit', className: 'main' }, `Send ${method}`), copy),
    ),
    result,
  )

  function send(event: SubmitEvent): void {
    event.preventDefault()
    result.hidden = false
    result.replaceChildren('Sending…')
    call(method, path, fields).then(
      (content) => result.replaceChildren(...nodes(content)),
      (error: unknown) => result.replaceChildren(span({ className: 'status bad' }, (error as Error).message)),
    )
  }

  async function copyCommand(): Promise<void> {
    try {
      await navigator.clipboard.writeText(curlCommand(method, wantedOf(path, fields)))
      copy.textContent = 'Copied'
    } catch (error) {
      copy.textContent = (error as Error).message
    }
    setTimeout(() => (copy.textContent = 'Copy as curl'), 1500)
  }
}

/** Calls with the token of the tab, never as who is signed in: it is to be seen what a token may. */
async function call(method: string, path: string, fields: readonly Field[]): Promise<readonly Child[]> {
  const wanted = wantedOf(path, fields)
  const startedAt = performance.now()
  const response = await fetch(wanted.address, { ...requestOf(method, wanted), credentials: 'omit' })
  const text = await response.text()
  const milliseconds = Math.round(performance.now() - startedAt)
  const { ok, status, statusText, headers } = response
  return [
    div(
      span({ className: `status ${ok ? 'good' : 'bad'}` }, `${status} ${statusText}`),
      span({ className: 'soft' }, ` in ${milliseconds} ms`),
    ),
    text === '' ? div({ className: 'soft' }, 'No body.') : pre({ tabIndex: 0 }, pretty(text)),
    details(
      summary('Headers'),
      pre({ tabIndex: 0 }, [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')),
    ),
  ]
}

/** Throws where the path is not complete. */
function wantedOf(path: string, fields: readonly Field[]): Wanted {
  const search: string[] = []
  const body: Record<string, unknown> = {}
  const files: [string, File][] = []
  let target = path
  for (const { param, input: field } of fields) {
    const [file] = field instanceof HTMLInputElement ? (field.files ?? []) : []
    if (file !== undefined) files.push([param.name, file])
    else if (field.value === '') {
      if (param.in === 'path') throw new Error(`${param.name} is needed`)
    } else if (param.in === 'path') {
      target = target.replace(`{${param.name}}`, encodeURIComponent(field.value))
    } else if (param.in === 'query') search.push(...pairs(param.name, valueOf(param, field.value)))
    else body[param.name] = valueOf(param, field.value)
  }
  const address = endpointAt`` + target + (search.length > 0 ? `?${search.join('&')}` : '')
  return { address, body, files }
}

function requestOf(method: string, { body, files }: Wanted): RequestInit {
  const headers = token() === '' ? {} : { 'PRIVATE-TOKEN': token() }
  if (files.length > 0) {
    const data = new FormData()
    for (const [name, value] of Object.entries(body)) data.append(name, String(value))
    for (const [name, file] of files) data.append(name, file)
    return { method, headers, body: data }
  }
  if (Object.keys(body).length === 0) return { method, headers }
  return { method, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

/** The token itself stays out of the command: `$TOKEN` stands for it. */
function curlCommand(method: string, { address, body, files }: Wanted): string {
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method])]
  if (token() !== '') parts.push('-H "PRIVATE-TOKEN: $TOKEN"')
  if (files.length > 0) {
    for (const [name, value] of Object.entries(body)) parts.push('-F', quoted(`${name}=${String(value)}`))
    for (const [name, file] of files) parts.push('-F', quoted(`${name}=@${file.name}`))
  } else if (Object.keys(body).length > 0) {
    parts.push('-H', quoted('Content-Type: application/json'), '-d', quoted(JSON.stringify(body)))
  }
  return [...parts, quoted(address)].join(' ')
}

function inputFor({ name, schema, required }: Param, operationId: string): Field['input'] {
  const common = { id: `${operationId}-${name}`, required }
  const [type] = typesOf(schema)
  const listed = schema.enum ?? (type === 'boolean' ? [true, false] : undefined)
  if (listed !== undefined) {
    return select(
      common,
      option({ value: '' }, 'not sent'),
      listed.map((value) => option({ value: String(value) }, String(value))),
    )
  }
  if (schema.format === 'binary') return input({ ...common, type: 'file' })
  const placeholder = typeText(schema)
  if (type === 'object' || type === 'array') {
    const as = type === 'array' ? '["a", "b"]' : '{"key": "value"}'
    return textarea({ ...common, rows: 2, placeholder: `${placeholder}, as JSON: ${as}`, spellcheck: false })
  }
  const inputMode = type === 'integer' ? 'numeric' : undefined
  return input({ ...common, type: 'text', placeholder, inputMode, autocomplete: 'off', spellcheck: false })
}

/** Numbers and flags go as what they are; what cannot be read goes as text, to see what the service says to it. */
function valueOf({ schema }: Param, text: string): unknown {
  if (typesOf(schema)[0] === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A value in bracket notation. A list's own name already ends in `[]`. */
function pairs(name: string, value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((one) => pairs(name.endsWith('[]') ? name : `${name}[]`, one))
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, one]) => pairs(`${name}[${key}]`, one))
  }
  return [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`]
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

import { address } from './here.ts'

/** What the service answers instead of what was asked for, in its own words. */
export class Refusal extends Error {
  readonly status: number
  /** As it came; undefined where that was no JSON. */
  readonly answer: unknown

  constructor(status: number, words: string, answer?: unknown) {
    super(words)
    this.status = status
    this.answer = answer
  }
}

type Value = string | number | boolean | null | undefined | readonly (string | number)[]
type Values = Readonly<Record<string, Value>>

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly page: number
  readonly hasNext: boolean
  /** Undefined where the service does not count that far. */
  readonly total: number | undefined
}

interface Call {
  readonly query?: Values
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks as whoever is signed in, or with the token that this tab was given. Throws a Refusal. */
export async function call(
  method: string,
  endpoint: string,
  { query = {}, body, headers: more = {} }: Call = {},
): Promise<Response> {
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(query)) append(url.searchParams, name, value)
  const token = sessionStorage.getItem('token') ?? ''
  const headers = new Headers({ ...more, ...(token !== '' && { 'private-token': token }) })
  if (method !== 'GET' && token === '') headers.set('x-csrf-token', await csrfToken())
  if (body !== undefined) headers.set('content-type', 'application/json')
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    credentials: token === '' ? 'same-origin' : 'omit',
  })
  if (!response.ok) {
    const answer: unknown = await response.json().catch(() => undefined)
    const words = wordsOf(answer) ?? `${response.status} ${response.statusText}`
    throw new Refusal(response.status, words, answer)
  }
  return response
}

export async function read<T>(endpoint: string, query?: Values): Promise<T> {
  const response = await call('GET', endpoint, { ...(query !== undefined && { query }) })
  return (await response.json()) as T
}

/** As `read`; undefined where there is nothing, or nothing for whoever asks. */
export async function readIfThere<T>(endpoint: string, query?: Values): Promise<T | undefined> {
  try {
    return await read<T>(endpoint, query)
  } catch (error) {
    if (error instanceof Refusal && [401, 403, 404].includes(error.status)) return undefined
    throw error
  }
}

export async function readText(endpoint: string, query?: Values): Promise<string> {
  return (await call('GET', endpoint, { ...(query !== undefined && { query }) })).text()
}

export async function readPage<T>(endpoint: string, query?: Values): Promise<Page<T>> {
  const response = await call('GET', endpoint, { ...(query !== undefined && { query }) })
  const number = (name: string): number | undefined => {
    const text = response.headers.get(name) ?? ''
    return text === '' ? undefined : Number(text)
  }
  return {
    items: (await response.json()) as T[],
    page: number('x-page') ?? 1,
    hasNext: number('x-next-page') !== undefined,
    total: number('x-total'),
  }
}

/** Undefined where the answer has no body. */
export async function write<T>(
  method: 'POST' | 'PUT' | 'DELETE',
  endpoint: string,
  body?: unknown,
): Promise<T> {
  const response = await call(method, endpoint, { ...(body !== undefined && { body }) })
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

function append(parameters: URLSearchParams, name: string, value: Value): void {
  if (value === undefined || value === null || value === '') return
  if (typeof value === 'object') for (const one of value) parameters.append(`${name}[]`, String(one))
  else parameters.set(name, String(value))
}

/** Sent with all that writes: no other site can read it. Sign-in leaves it in the tab. */
async function csrfToken(): Promise<string> {
  const kept = sessionStorage.getItem('csrf')
  if (kept !== null) return kept
  const response = await fetch(address`/users/csrf_token`, { credentials: 'same-origin' })
  if (!response.ok) return ''
  const { csrf_token } = (await response.json()) as { csrf_token: string }
  sessionStorage.setItem('csrf', csrf_token)
  return csrf_token
}

/** `{"message": "…"}`, `{"message": {"name": ["…"]}}` or `{"error": "…"}`. */
function wordsOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const { message, error, error_description: description } = answer as Record<string, unknown>
  if (typeof message === 'string') return message
  if (Array.isArray(message)) return message.join('. ')
  if (typeof message === 'object' && message !== null) {
    return Object.entries(message)
      .flatMap(([name, faults]) =>
        [faults].flat().map((fault) => `${name === 'base' ? '' : name} ${String(fault)}`.trim()),
      )
      .join('. ')
  }
  if (typeof description === 'string') return description
  return typeof error === 'string' ? error : undefined
}

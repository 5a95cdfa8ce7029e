/** What came back from the API. */
export interface Reply {
  status: number
  headers: Headers
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers of every shape
  body: any
  text: string
}

/** A caller of the API: somebody with a token, or nobody. */
export class Client {
  readonly base: string
  readonly headers: Readonly<Record<string, string>>

  constructor(base: string, headers: Readonly<Record<string, string>> = {}) {
    this.base = base
    this.headers = headers
  }

  /** `path` is relative to `/api/v4`; an object body goes as JSON, anything else as it is. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const plain =
      body === undefined ||
      typeof body === 'string' ||
      body instanceof FormData ||
      body instanceof URLSearchParams ||
      body instanceof Uint8Array
    const response = await fetch(path.startsWith('http') ? path : `${this.base}/api/v4${path}`, {
      method,
      redirect: 'manual',
      headers: { ...this.headers, ...(!plain && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: plain ? (body as string) : JSON.stringify(body) }),
    })
    const text = await response.text()
    let parsed: unknown
    try {
      parsed = text === '' ? undefined : JSON.parse(text)
    } catch {
      parsed = undefined
    }
    return { status: response.status, headers: response.headers, body: parsed, text }
  }

  get(path: string, headers?: Record<string, string>): Promise<Reply> {
    return this.request('GET', path, undefined, headers)
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.request('POST', path, body, headers)
  }

  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.request('PUT', path, body, headers)
  }

  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.request('PATCH', path, body, headers)
  }

  delete(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.request('DELETE', path, body, headers)
  }
}

/** Somebody with a user and a token. */
export class Person extends Client {
  readonly id: number
  readonly username: string
  readonly token: string

  constructor(base: string, user: { id: number; username: string; token: string }) {
    super(base, { 'private-token': user.token })
    this.id = user.id
    this.username = user.username
    this.token = user.token
  }
}

import type { World } from '../world/world.ts'

export interface Page {
  readonly status: number
  readonly text: string
  /** Where it leads on to, as a path. */
  readonly location: string | null
}

/** A browser without scripts: it keeps its cookie, sends forms, and follows nothing by itself. */
export class Browser {
  readonly #world: World
  cookie = ''
  /** What it keeps while it is at a provider of identities. */
  #journey = ''

  constructor(world: World) {
    this.#world = world
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#send(path, { headers })
  }

  /** Sends a form: `name` is the field `user[name]`, but for what has the name of the token already. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    const form = Object.entries(fields).map(([name, value]): [string, string] => [
      name === 'authenticity_token' ? name : `user[${name}]`,
      value,
    ])
    const body = new URLSearchParams(form)
    return this.#send(path, {
      method: 'POST',
      body,
      headers: { 'sec-fetch-site': 'same-origin', ...headers },
    })
  }

  /** The sign-in page; its answer is JSON. */
  async signIn(login: string, password: string, more: Record<string, string> = {}) {
    const page = await this.post('/users/sign_in', { login, password, ...more })
    return { status: page.status, body: JSON.parse(page.text) as Record<string, unknown> }
  }

  async #send(
    path: string,
    { headers, ...init }: Omit<RequestInit, 'headers'> & { headers: Record<string, string> },
  ): Promise<Page> {
    const cookies = [this.cookie, this.#journey].filter((cookie) => cookie !== '')
    const answer = await fetch(this.#world.url + path, {
      ...init,
      redirect: 'manual',
      headers: { ...headers, ...(cookies.length > 0 && { cookie: cookies.join('; ') }) },
    })
    for (const kept of answer.headers.getSetCookie()) {
      const [cookie] = kept.split(';', 1) as [string]
      if (cookie.startsWith('_gitlab_session=')) this.cookie = cookie
      if (cookie.startsWith('sign_in_elsewhere='))
        this.#journey = cookie === 'sign_in_elsewhere=' ? '' : cookie
    }
    const location = answer.headers.get('location')
    return {
      status: answer.status,
      text: await answer.text(),
      location: location?.replace(this.#world.url, '') ?? null,
    }
  }
}

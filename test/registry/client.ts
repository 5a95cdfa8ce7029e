import { createHash } from 'node:crypto'
import type { Person } from '../world/client.ts'
import type { Json, World } from '../world/world.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  /** Undefined for what is no JSON. */
  readonly body: Json | undefined
}

export function digestOf(content: string | Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(content).digest('hex')}`
}

export const types = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
}

/** A manifest of blobs, as the bytes that are pushed. */
export function manifestOf(config: string, layers: readonly string[], more: Json = {}): string {
  const descriptor = (mediaType: string, content: string): Json => ({
    mediaType,
    digest: digestOf(content),
    size: Buffer.byteLength(content),
  })
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: types.manifest,
    config: descriptor(types.config, config),
    layers: layers.map((layer) => descriptor(types.layer, layer)),
    ...more,
  })
}

/** A client of the registry with somebody's login: for each call it gets a token of what the call needs. */
export class RegistryClient {
  readonly url: string
  readonly #login: { username: string; password: string } | undefined

  constructor(world: Pick<World, 'url'>, login?: { username: string; password: string }) {
    this.url = world.url
    this.#login = login
  }

  static of(world: Pick<World, 'url'>, { username, token }: Person): RegistryClient {
    return new RegistryClient(world, { username, password: token })
  }

  /** Asks the token service. */
  async ask(...scopes: string[]): Promise<Answer> {
    const query = new URLSearchParams({ service: 'container_registry' })
    for (const scope of scopes) query.append('scope', scope)
    return this.#fetch(`/jwt/auth?${query.toString()}`, {
      headers: this.#login === undefined ? {} : { authorization: basic(this.#login) },
    })
  }

  async token(...scopes: string[]): Promise<string> {
    const answer = await this.ask(...scopes)
    if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${answer.bytes.toString()}`)
    return answer.body!['token'] as string
  }

  /** `path` is below `/v2/` or a location. The token is for all that anybody does to `name`. */
  async request(
    method: string,
    name: string,
    path: string,
    {
      body,
      headers = {},
      scopes = [],
    }: { body?: string | ReadableStream; headers?: Record<string, string>; scopes?: string[] } = {},
  ): Promise<Answer> {
    const token = await this.token(`repository:${name}:pull,push,delete`, ...scopes)
    return this.#fetch(path.startsWith('/') ? path : `/v2/${name}/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body, duplex: 'half' }),
    })
  }

  async pushBlob(name: string, content: string): Promise<void> {
    const answer = await this.request('POST', name, `blobs/uploads/?digest=${digestOf(content)}`, {
      body: content,
    })
    if (answer.status !== 201) throw new Error(`blob: ${answer.status} ${answer.bytes.toString()}`)
  }

  async pushManifest(
    name: string,
    reference: string,
    manifest: string,
    type = types.manifest,
  ): Promise<Answer> {
    return this.request('PUT', name, `manifests/${reference}`, {
      body: manifest,
      headers: { 'content-type': type },
    })
  }

  /** An image of one layer; answers its manifest. */
  async pushImage(name: string, tag: string, layer = `layer of ${tag}`): Promise<string> {
    const config = '{}'
    for (const blob of [config, layer]) await this.pushBlob(name, blob)
    const manifest = manifestOf(config, [layer])
    const answer = await this.pushManifest(name, tag, manifest)
    if (answer.status !== 201) throw new Error(`manifest: ${answer.status} ${answer.bytes.toString()}`)
    return manifest
  }

  async #fetch(path: string, init: RequestInit & { duplex?: 'half' }): Promise<Answer> {
    const response = await fetch(this.url + path, { ...init, redirect: 'manual' })
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, bytes, body: parsed(bytes) }
  }
}

function parsed(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString()) as Json
  } catch {
    return undefined
  }
}

export function basic({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** What a token says. */
export function claimsOf(token: string): { header: Json; payload: Json } {
  const [header, payload] = token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json)
  return { header: header!, payload: payload! }
}

/** The code of the first error of a refusal. */
export function codeOf({ body }: Answer): string | undefined {
  return (body?.['errors'] as { code: string }[] | undefined)?.[0]?.code
}

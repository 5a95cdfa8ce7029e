import { isIP } from 'node:net'
import {
  Client,
  InvalidCredentialsError,
  NoSuchObjectError,
  ResultCodeError,
  type Entry,
  type Filter,
} from 'ldapts'
import type { LdapServer } from '../config.ts'

/** What went wrong with a server, in words for people. Nothing may be changed because of what it did not answer. */
export class DirectoryError extends Error {
  constructor(server: LdapServer, problem: string, cause?: unknown) {
    super(`${server.provider}: ${problem}`, { cause })
    this.name = 'DirectoryError'
  }
}

const pageSize = 500

/** A connection that is bound as the account for searching. */
export class Connection implements AsyncDisposable {
  readonly server: LdapServer
  readonly #client: Client

  private constructor(server: LdapServer, client: Client) {
    this.server = server
    this.#client = client
  }

  /** The first of the server's hosts that answers. */
  static async open(server: LdapServer): Promise<Connection> {
    return new Connection(server, await bound(server, server.bindDn ?? '', server.password))
  }

  /** All entries that a filter finds below `base`, page by page, however many. Throws `DirectoryError`. */
  async search(base: string, filter: Filter, attributes: readonly string[]): Promise<Entry[]> {
    return this.#find(base, 'sub', filter, attributes)
  }

  /** One entry by its name. */
  async read(dn: string, filter: Filter, attributes: readonly string[]): Promise<Entry | undefined> {
    return (await this.#find(dn, 'base', filter, attributes))[0]
  }

  async #find(
    base: string,
    scope: 'base' | 'sub',
    filter: Filter,
    attributes: readonly string[],
  ): Promise<Entry[]> {
    const options = {
      scope,
      filter,
      ...(scope === 'sub' && { paged: { pageSize } }),
    } as const
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#client.search(base, { ...options, attributes: [...attributes] })).searchEntries
      } catch (error) {
        if (error instanceof NoSuchObjectError && scope === 'base') return []
        const again =
          error instanceof ResultCodeError && this.server.retryEmptyResultWithCodes.includes(error.code)
        if (!again || attempt === 3) throw new DirectoryError(this.server, problemOf(error), error)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.unbind().catch(() => undefined)
  }
}

/** Whether a name and a password belong together. An empty password is never asked about: servers take it for no name. */
export async function passwordFits(server: LdapServer, dn: string, password: string): Promise<boolean> {
  if (password === '' || dn === '') return false
  try {
    const client = await bound(server, dn, password)
    await client.unbind().catch(() => undefined)
    return true
  } catch (error) {
    if (error instanceof DirectoryError && error.cause instanceof InvalidCredentialsError) return false
    throw error
  }
}

async function bound(server: LdapServer, dn: string, password: string): Promise<Client> {
  let last: unknown
  for (const [host, port] of server.hosts) {
    const client = clientOf(server, host, port)
    try {
      if (server.encryption === 'start_tls') await client.startTLS(tlsOptions(server, host))
      await client.bind(dn, password)
      return client
    } catch (error) {
      await client.unbind().catch(() => undefined)
      // A server that answers has answered; only where none does the next one is asked.
      if (error instanceof ResultCodeError) throw new DirectoryError(server, problemOf(error), error)
      last = error
    }
  }
  throw new DirectoryError(server, problemOf(last), last)
}

function clientOf(server: LdapServer, host: string, port: number): Client {
  const scheme = server.encryption === 'simple_tls' ? 'ldaps' : 'ldap'
  const name = isIP(host) === 6 ? `[${host}]` : host
  return new Client({
    url: `${scheme}://${name}:${port}`,
    ...(server.timeout > 0 && { timeout: server.timeout, connectTimeout: server.timeout }),
    ...(server.encryption === 'simple_tls' && { tlsOptions: tlsOptions(server, host) }),
  })
}

function tlsOptions({ tls, verifyCertificates }: LdapServer, host: string) {
  return {
    ...tls,
    rejectUnauthorized: verifyCertificates,
    host,
    // Addresses have no name to ask for.
    ...(isIP(host) === 0 && { servername: host }),
  }
}

function problemOf(error: unknown): string {
  if (error instanceof InvalidCredentialsError) return 'it does not take the name and password'
  if (error instanceof ResultCodeError) return `it refuses with code ${error.code} (${error.name})`
  return `it cannot be reached (${error instanceof Error ? error.message : String(error)})`
}

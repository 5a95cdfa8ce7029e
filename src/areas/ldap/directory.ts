import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { accountOf } from './accounts.ts'
import type { LdapConfig, LdapServer } from './config.ts'
import { Connection, DirectoryError } from './server/connection.ts'
import { DirectoryGroups } from './server/groups.ts'
import { signIn, type DirectoryPerson } from './server/people.ts'
import { linksTo } from './sync/store.ts'
import { syncGroups } from './sync/sync.ts'

export interface DirectoryServices {
  readonly db: Database
  readonly log: Logger
  readonly settings: Settings
}

/** The directories that people sign in with. */
export class Directory {
  readonly config: LdapConfig
  readonly #services: DirectoryServices

  constructor(config: LdapConfig, services: DirectoryServices) {
    this.config = config
    this.#services = services
  }

  get enabled(): boolean {
    return this.config.servers.length > 0
  }

  server(provider: string): LdapServer | undefined {
    return this.config.servers.find((server) => server.provider === provider)
  }

  /**
   * Id of the account of somebody whose name and password a directory knows, or undefined. The account is made at the
   * first sign-in, and may be blocked: whoever lets somebody in looks at that. A directory that does not answer knows
   * nobody. Only `providers` are asked, by default all, in the order of the configuration.
   */
  async authenticate(
    username: string,
    password: string,
    providers?: readonly string[],
  ): Promise<number | undefined> {
    const { log } = this.#services
    for (const server of this.config.servers) {
      if (providers !== undefined && !providers.includes(server.provider)) continue
      try {
        const person = await signIn(server, username, password)
        if (person !== undefined) return await this.#letIn(server, person)
      } catch (error) {
        if (!(error instanceof DirectoryError)) throw error
        log.warn({ provider: server.provider, reason: error.message }, 'a directory could not be asked')
      }
    }
    return undefined
  }

  async #letIn(server: LdapServer, person: DirectoryPerson): Promise<number> {
    const { id, isNew } = await accountOf(this.#services, server, person)
    // So that somebody who signs in for the first time finds his groups; later the schedule sees to that.
    if (isNew) await this.#syncGroupsOf(server, person)
    return id
  }

  async #syncGroupsOf(server: LdapServer, person: DirectoryPerson): Promise<void> {
    const { db, log } = this.#services
    try {
      const links = await linksTo(db.reader, [server.provider], undefined)
      if (links.length === 0) return
      await using connection = await Connection.open(server)
      const cns = new Set(
        (await new DirectoryGroups(connection).groupsOf(person.dn, person.username)).map((cn) =>
          cn.toLowerCase(),
        ),
      )
      const concerned = links.filter(({ cn }) => cn === null || cns.has(cn.toLowerCase()))
      const groupIds = [...new Set(concerned.map(({ namespace_id }) => namespace_id))]
      if (groupIds.length > 0) await syncGroups({ db, log, config: this.config }, { groupIds })
    } catch (error) {
      if (!(error instanceof DirectoryError)) throw error
      log.warn(
        { provider: server.provider, reason: error.message },
        'groups could not be synced at a sign-in',
      )
    }
  }
}

import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { directoryEndpoints, overrideEndpoints } from './admin-routes.ts'
import { groupSync, linkEndpoints, type LdapServices } from './routes.ts'
import { syncGroups } from './sync/sync.ts'
import { syncUsers } from './sync/users.ts'

export { readLdapConfig, type LdapConfig } from './config.ts'
export { Directory } from './directory.ts'

const userSync = 'ldap:sync-users'

interface Wish {
  readonly groupIds?: readonly number[]
  readonly confirmed?: boolean
}

/** LDAP: people sign in with their directory, and its groups give memberships. */
export function ldap(services: LdapServices): {
  endpoints: Endpoint[]
  tasks: Task<never>[]
  schedules: Schedule[]
} {
  const { db, log, directory } = services
  const { config } = directory
  const groups: Task<Wish> = {
    name: groupSync,
    // The next one comes with the schedule.
    attempts: 1,
    async run({ groupIds, confirmed = false }) {
      await syncGroups({ db, log, config }, { ...(groupIds !== undefined && { groupIds }), confirmed })
    },
  }
  const users: Task = { name: userSync, attempts: 1, run: () => syncUsers({ db, log, config }) }
  return {
    endpoints: [...linkEndpoints(services), ...directoryEndpoints(services), ...overrideEndpoints(services)],
    tasks: [groups, users] as Task<never>[],
    schedules: directory.enabled
      ? [
          { task: groupSync, pattern: config.sync.groups },
          { task: userSync, pattern: config.sync.users },
        ]
      : [],
  }
}

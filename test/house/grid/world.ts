import path from 'node:path'
import { startWorld, type World } from '../../world/world.ts'

/** A world in which every row of the grid can be played. */
export function startGridWorld(): Promise<World> {
  return startWorld({
    LDAP_CONFIG: path.join(import.meta.dirname, 'ldap.yml'),
    PAGES_URL: 'http://sites.test',
    // Nobody is asked whose a domain is.
    PAGES_RESOLVERS: '127.0.0.1:9',
  })
}

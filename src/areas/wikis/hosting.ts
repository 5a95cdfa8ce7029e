import type { GroupSubject, ProjectSubject } from '../../access/index.ts'
import type { Hosted } from '../repository/index.ts'
import { ownerOf } from './owners.ts'
import { writable, type WikiRoom } from './services.ts'
import * as store from './store.ts'

export interface WikiHosting {
  /** The wiki of a project or group. `make`: where there is none it is made, so that it can be cloned and pushed to. */
  of(subject: ProjectSubject | GroupSubject, options: { readonly make: boolean }): Promise<Hosted | undefined>
}

export function wikiHosting(room: WikiRoom): WikiHosting {
  const { db, door } = room
  return {
    async of(subject, { make }) {
      const owner = ownerOf(subject)
      const found = await store.ofOwner(db.reader, owner)
      if (found === undefined && !make) return undefined
      const wiki = await writable(room, owner, found)
      return {
        refsVersion: wiki.refs_version,
        open: () => door.open(wiki),
        receive: (actor, input, output, options) => door.receive(wiki, actor, input, output, options),
      }
    },
  }
}

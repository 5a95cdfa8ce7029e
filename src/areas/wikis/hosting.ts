import type { Readable, Writable } from 'node:stream'
import type { Actor, GroupSubject, ProjectSubject } from '../../access/index.ts'
import type { PushResult, Repository } from '../../git/index.ts'
import { ownerOf } from './owners.ts'
import { writable, type WikiRoom } from './services.ts'
import * as store from './store.ts'

/** A wiki as git clients meet it, whatever transport they come by. Access was decided before. */
export interface HostedWiki {
  readonly refsVersion: number
  open(): Promise<Repository>
  receive(
    actor: Actor,
    input: Readable,
    output: Writable,
    options: {
      signal?: AbortSignal
      messagePrefix: string
      afterwards?: () => Promise<readonly string[]>
    },
  ): Promise<PushResult>
}

export interface WikiHosting {
  /** The wiki of a project or group. `make`: where there is none it is made, so that it can be cloned and pushed to. */
  of(
    subject: ProjectSubject | GroupSubject,
    options: { readonly make: boolean },
  ): Promise<HostedWiki | undefined>
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

import { bitbucketServerTakers } from './bitbucket-server/relations.ts'
import { bitbucketTakers } from './bitbucket/relations.ts'
import { HostFault } from './faults.ts'
import { githubTakers } from './github/relations.ts'
import type { HostKind } from './hosts.ts'
import type { HostImportRoom } from './services.ts'
import type { Step } from './step-store.ts'

/** Does a step to its end, which it writes together with what it brings. */
export type Taker = (room: HostImportRoom, step: Step, signal: AbortSignal) => Promise<void>

const takers: Readonly<Record<HostKind, Readonly<Record<string, Taker>>>> = {
  github: githubTakers,
  bitbucket: bitbucketTakers,
  bitbucket_server: bitbucketServerTakers,
}

export function takerOf({ kind, relation }: Step): Taker {
  const taker = takers[kind][relation]
  if (taker === undefined) throw new HostFault('Nobody knows how to bring it.')
  return taker
}

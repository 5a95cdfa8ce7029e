import { anyScheme, readAddress, type Address } from './address.ts'
import { branchFilter } from './branch-filter.ts'
import { contexts } from './entities.ts'
import { fetchRefs, type FetchServices } from './fetch-refs.ts'
import { moverOf } from './mover.ts'
import * as store from './pull-store.ts'
import type { PushServices } from './push.ts'
import { failureOf, wireTo } from './wire.ts'
import type { MirrorKind, Outcome } from './work.ts'

export type PullServices = PushServices & FetchServices

export const pullTask = 'mirrors:pull'

/** What is due later the tasks of every minute find. */
export function pullKind(services: PullServices): MirrorKind<store.ClaimedMirror> {
  const { db } = services
  return {
    table: 'pull_mirrors',
    claim: (runner, seconds) => store.claim(db.writer, runner, seconds),
    run: (mirror, signal) => pullMirror(services, mirror, signal),
    settle: (runner, outcome) => store.settle(db.writer, runner, outcome.ok ? null : outcome.error),
  }
}

async function pullMirror(
  services: PullServices,
  mirror: store.ClaimedMirror,
  signal: AbortSignal,
): Promise<Outcome> {
  const address = readAddress(services.cipher.open(mirror.address, contexts.pullAddress), anyScheme)
  if ('fault' in address) return { ok: false, error: address.fault, passing: false }
  try {
    await pull(services, mirror, address, signal)
    return { ok: true }
  } catch (error) {
    return failureOf(error, { address, signal, log: services.log, mirror: mirror.id })
  }
}

async function pull(
  services: PullServices,
  mirror: store.ClaimedMirror,
  address: Address,
  signal: AbortSignal,
): Promise<void> {
  const { db, outbound } = services
  // All that happens is the doing of the mirror's user, as far as he may do it.
  const closed = 'The user of the mirror may not push all branches of the project'
  const mover = {
    ...(await moverOf(db, mirror, 'admin_mirror', closed)),
    pushOptions: mirror.trigger_builds ? [] : ['ci.skip'],
  }
  const isWanted = await branchFilter(services, mirror)
  const login = {
    privateKey: undefined,
    hostKeys: mirror.host_keys,
    remember: (hostKey: string) => store.rememberHostKey(db.writer, mirror.id, hostKey),
  }
  await using wire = wireTo(outbound, address, login, signal)
  await fetchRefs(services, mover, wire, {
    address,
    signal,
    isWanted,
    overwrites: mirror.overwrites_diverged_branches,
  })
}

import { enterById, may, project as projectKind, type ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { anyScheme, readAddress, type Address } from './address.ts'
import { branchFilter } from './branch-filter.ts'
import { contexts } from './entities.ts'
import { fetchRefs, type FetchServices } from './fetch-refs.ts'
import { MirrorProblem } from './problem.ts'
import * as store from './pull-store.ts'
import type { PushServices } from './push.ts'
import { failureOf, wireTo } from './wire.ts'
import type { MirrorKind, Outcome } from './work.ts'

export type PullServices = PushServices & FetchServices

export const pullTask = 'mirrors:pull'

/** A task that looks for mirrors that are due, in time. */
export async function enqueuePull(tx: Tx, due: store.Due): Promise<void> {
  await enqueue(tx, pullTask, {}, { runAt: new Date(due.due_at), key: `${pullTask}:${due.id}` })
}

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

/** All that happens is the doing of the mirror's user, as far as he may do it. */
async function moverOf({ db }: PullServices, { project_id, user_id, trigger_builds }: store.ClaimedMirror) {
  const lookup = { id: String(project_id), secretDigest: undefined }
  const entrance =
    user_id === null ? undefined : await enterById<ProjectSubject>(db, projectKind, user_id, lookup)
  const { actor, subject } = entrance ?? {}
  if (actor?.user?.state !== 'active' || subject === undefined || !may(actor, 'admin_mirror', subject)) {
    throw new MirrorProblem('The user of the mirror may not push all branches of the project')
  }
  return { actor, project: subject, pushOptions: trigger_builds ? [] : ['ci.skip'] }
}

async function pull(
  services: PullServices,
  mirror: store.ClaimedMirror,
  address: Address,
  signal: AbortSignal,
): Promise<void> {
  const { db, outbound } = services
  const mover = await moverOf(services, mirror)
  const isWanted = await branchFilter(services, mirror)
  const login = {
    privateKey: undefined,
    hostKeys: mirror.host_keys,
    remember: (hostKey: string) => store.rememberHostKey(db.writer, mirror.id, hostKey),
  }
  await using wire = wireTo(outbound, address, login, signal)
  await fetchRefs(services, mover, wire, {
    signal,
    isWanted,
    overwrites: mirror.overwrites_diverged_branches,
  })
}

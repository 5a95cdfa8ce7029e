import { listRefs, pushRemote, type RemotePush } from '../../git/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { anyScheme, readAddress, type Address } from './address.ts'
import { branchFilter } from './branch-filter.ts'
import { enqueueDue, type Due } from './due.ts'
import { contexts } from './entities.ts'
import { planPush } from './plan-push.ts'
import * as store from './store.ts'
import { failedBy, failureOf, named, wireTo } from './wire.ts'
import type { MirrorKind, Outcome } from './work.ts'

export interface PushServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly log: Logger
  readonly outbound: Outbound
  readonly places: RepositoryPlaces
}

export const pushTask = 'mirrors:push'

/** Minutes until it is tried again, after the first, the second and the third failure that may pass by itself. */
const retries = [1, 5, 15]

/** As `enqueueDue`, where nothing may be due. */
export async function enqueuePush(tx: Tx, due: Due | undefined): Promise<void> {
  if (due !== undefined) await enqueueDue(tx, pushTask, due)
}

export function pushKind(services: PushServices): MirrorKind<store.ClaimedMirror> {
  const { db } = services
  return {
    table: 'push_mirrors',
    claim: (runner, seconds) => store.claim(db.writer, runner, seconds),
    // Of a repository without anything in it nothing is taken for gone.
    run: async (mirror, signal) => (mirror.empty ? { ok: true } : pushMirror(services, mirror, signal)),
    async settle(runner, outcome) {
      await db.transaction(async (tx) => {
        const due = outcome.ok
          ? await store.succeed(tx, runner)
          : await store.fail(tx, runner, outcome.error, outcome.passing ? retries : [])
        await enqueuePush(tx, due)
      })
    },
  }
}

/** Brings a mirror up to what the project is now. */
async function pushMirror(
  services: PushServices,
  mirror: store.ClaimedMirror,
  signal: AbortSignal,
): Promise<Outcome> {
  const address = readAddress(services.cipher.open(mirror.address, contexts.address), anyScheme)
  if ('fault' in address) return { ok: false, error: address.fault, passing: false }
  try {
    const { pushed, diverged } = await push(services, mirror, address, signal)
    if (pushed.refused.length > 0) return failedBy(wordsOf(pushed), address)
    if (diverged.length === 0) return { ok: true }
    return failedBy(`Some refs have diverged and were left as they are: ${named(diverged)}`, address)
  } catch (error) {
    return failureOf(error, { address, signal, log: services.log, mirror: mirror.id })
  }
}

async function push(
  services: PushServices,
  mirror: store.ClaimedMirror,
  address: Address,
  signal: AbortSignal,
): Promise<{ readonly pushed: RemotePush; readonly diverged: readonly string[] }> {
  const { db, cipher, outbound, places } = services
  const repository = places.of({ id: mirror.project_id, storage: mirror.storage })
  const local = await listRefs(repository, mirror.refs_version)
  const isMirrored = await branchFilter(services, mirror)
  const byKey = mirror.auth_method === 'ssh_public_key' && mirror.private_key !== null
  const login = {
    privateKey: byKey ? cipher.open(mirror.private_key, contexts.privateKey) : undefined,
    hostKeys: mirror.host_keys,
    remember: (hostKey: string) => store.rememberHostKey(db.writer, mirror.id, hostKey),
  }
  await using wire = wireTo(outbound, address, login, signal)
  let diverged: readonly string[] = []
  const pushed = await pushRemote(
    repository,
    wire,
    async (remote) => {
      const plan = await planPush(
        repository,
        { local, remote },
        { isMirrored, keepsDivergent: mirror.keep_divergent_refs },
      )
      diverged = plan.diverged
      return plan.updates
    },
    signal,
  )
  return { pushed, diverged }
}

function wordsOf({ refused, words }: RemotePush): string {
  const list = named(refused.map(({ update, reason }) => `${update.ref} (${reason})`))
  return `Some refs were refused: ${list}${words === '' ? '' : `\n${words}`}`
}

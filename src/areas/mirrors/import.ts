import { userOf, type Actor } from '../../access/index.ts'
import { readRemoteRefs } from '../../git/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { forbidden, refused } from '../../kernel/errors/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import { keylessSchemes, readAddress, shownAddress, type Address, type KeylessScheme } from './address.ts'
import { enqueueDue } from './due.ts'
import { contexts } from './entities.ts'
import { fetchRefs } from './fetch-refs.ts'
import * as store from './import-store.ts'
import { moverOf } from './mover.ts'
import type { PullChangeServices } from './pull-changes.ts'
import type { PullServices } from './pull.ts'
import { checkAddress } from './rules.ts'
import { failureOf, keylessWireTo } from './wire.ts'
import type { MirrorKind, Outcome } from './work.ts'

export const importTask = 'mirrors:import'

/**
 * Looks at the repository that a new project is to be made from, and gives what asks for that in the transaction that
 * makes the project (supporting resources, 4.4). It is asked before there is a project: whoever mistyped is told at once.
 */
export async function importRepository(
  { cipher, outbound, settings }: Omit<PullChangeServices, 'db'>,
  actor: Actor,
  url: string,
): Promise<(tx: Tx, projectId: number) => Promise<void>> {
  if (!settings.values.import_sources.includes('git')) throw forbidden()
  const address = await checkAddress(outbound, 'import_url', url, keylessSchemes)
  await requireAnswer({ outbound }, address)
  return async (tx, projectId) => {
    const due = await store.add(tx, {
      projectId,
      userId: userOf(actor).id,
      address: cipher.seal(url, contexts.importAddress),
      shownAddress: shownAddress(url),
      correlationId: requestContext()?.id ?? '',
    })
    await enqueueDue(tx, importTask, due)
  }
}

/** Milliseconds in which a repository has to say what it has, while somebody waits for it. */
const patience = 10_000

async function requireAnswer(
  { outbound }: Pick<PullChangeServices, 'outbound'>,
  address: Address<KeylessScheme>,
): Promise<void> {
  try {
    await using wire = keylessWireTo(outbound, address, AbortSignal.timeout(patience))
    await wire.greet('git-upload-pack', readRemoteRefs)
  } catch {
    throw refused(422, 'Unable to access repository with the URL and credentials provided')
  }
}

export function importKind(services: PullServices): MirrorKind<store.ClaimedImport> {
  const { db } = services
  return {
    table: 'repository_imports',
    claim: (runner, seconds) => store.claim(db.writer, runner, seconds),
    run: (claimed, signal) => runImport(services, claimed, signal),
    async settle(runner, outcome) {
      if (outcome.ok) return store.end(db.writer, runner, null)
      const isPut = outcome.passing && (await postpone(services, runner))
      if (!isPut) await store.end(db.writer, runner, outcome.error)
    },
  }
}

async function postpone({ db }: PullServices, runner: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const due = await store.tryLater(tx, runner)
    if (due !== undefined) await enqueueDue(tx, importTask, due)
    return due !== undefined
  })
}

async function runImport(
  services: PullServices,
  claimed: store.ClaimedImport,
  signal: AbortSignal,
): Promise<Outcome> {
  const address = readAddress(services.cipher.open(claimed.address, contexts.importAddress), keylessSchemes)
  if ('fault' in address) return { ok: false, error: address.fault, passing: false }
  try {
    // All that comes is the doing of who made the project.
    const gone = 'Who asked for the import may not push to the project any more'
    const mover = { ...(await moverOf(services.db, claimed, 'push_code', gone)), imports: true }
    await using wire = keylessWireTo(services.outbound, address, signal)
    await fetchRefs(services, mover, wire, { address, signal, isWanted: () => true, overwrites: false })
    return { ok: true }
  } catch (error) {
    return failureOf(error, { address, signal, log: services.log, mirror: claimed.id })
  }
}

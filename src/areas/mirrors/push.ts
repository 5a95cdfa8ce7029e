import {
  GitError,
  listRefs,
  pushRemote,
  RemoteRefusal,
  type RemotePush,
  type RemoteWire,
} from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import { protectionOf, rulesOf } from '../protected-branches/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { readAddress, withoutSecrets, type Address } from './address.ts'
import { HttpWire } from './http-wire.ts'
import { daemonWire } from './line-wire.ts'
import { planPush } from './plan-push.ts'
import { MirrorProblem } from './problem.ts'
import { compilePattern } from './rules.ts'
import { sshWire } from './ssh-wire.ts'
import { contexts } from './entities.ts'
import * as store from './store.ts'

export interface PushServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly log: Logger
  readonly outbound: Outbound
  readonly places: RepositoryPlaces
}

export type Outcome =
  { readonly ok: true } | { readonly ok: false; readonly error: string; readonly passing: boolean }

const mostNamed = 10

/** Brings a mirror up to what the project is now. Rejects only where it was stopped. */
export async function pushMirror(
  services: PushServices,
  mirror: store.ClaimedMirror,
  signal: AbortSignal,
): Promise<Outcome> {
  const address = readAddress(services.cipher.open(mirror.address, contexts.address))
  if ('fault' in address) return { ok: false, error: address.fault, passing: false }
  const failed = (text: string, passing = false): Outcome => ({
    ok: false,
    error: withoutSecrets(text, address),
    passing,
  })
  try {
    const { pushed, diverged } = await push(services, mirror, address, signal)
    if (pushed.refused.length > 0) return failed(wordsOf(pushed))
    if (diverged.length === 0) return { ok: true }
    return failed(`Some refs have diverged and were left as they are: ${named(diverged)}`)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof MirrorProblem) return failed(error.message, error.passing)
    if (error instanceof RemoteRefusal) return failed(`The other side refuses: ${error.message}`)
    if (error instanceof GitError && (error.failure === 'protocol' || error.failure === 'too-large')) {
      return failed(`The other side does not answer as git does: ${error.message}`, true)
    }
    services.log.warn({ err: error, mirror: mirror.id }, 'a mirror could not be brought up to date')
    return failed('The push failed', true)
  }
}

async function push(
  services: PushServices,
  mirror: store.ClaimedMirror,
  address: Address,
  signal: AbortSignal,
): Promise<{ readonly pushed: RemotePush; readonly diverged: readonly string[] }> {
  const repository = services.places.of({ id: mirror.project_id, storage: mirror.storage })
  const local = await listRefs(repository, mirror.refs_version)
  const isMirrored = await branchFilter(services, mirror)
  await using wire = wireTo(services, mirror, address, signal)
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

async function branchFilter(
  { db }: PushServices,
  { project_id, only_protected_branches, branch_regex }: store.ClaimedMirror,
): Promise<(branch: string) => boolean> {
  if (only_protected_branches) {
    const rules = await rulesOf(db.reader, project_id, null)
    return (branch) => protectionOf(branch, rules) !== undefined
  }
  const pattern = branch_regex === null ? undefined : compilePattern(branch_regex)
  return pattern === undefined ? () => true : (branch) => pattern.matcher(branch).find()
}

function wireTo(
  { db, cipher, outbound }: PushServices,
  { id, private_key, auth_method, host_keys }: store.ClaimedMirror,
  address: Address,
  signal: AbortSignal,
): RemoteWire {
  switch (address.scheme) {
    case 'http':
    case 'https':
      return new HttpWire(outbound, address, signal)
    case 'git':
      return daemonWire(outbound, address, signal)
    case 'ssh': {
      const byKey = auth_method === 'ssh_public_key' && private_key !== null
      const login = {
        privateKey: byKey ? cipher.open(private_key, contexts.privateKey) : undefined,
        hostKeys: host_keys,
        remember: (hostKey: string) => store.rememberHostKey(db.writer, id, hostKey),
      }
      return sshWire(outbound, address, login, signal)
    }
  }
}

function wordsOf({ refused, words }: RemotePush): string {
  const first = refused.slice(0, mostNamed).map(({ update, reason }) => `${update.ref} (${reason})`)
  const more = refused.length > mostNamed ? [`and ${refused.length - mostNamed} more`] : []
  const list = [...first, ...more].join(', ')
  return `Some refs were refused: ${list}${words === '' ? '' : `\n${words}`}`
}

function named(refs: readonly string[]): string {
  const more = refs.length > mostNamed ? [`and ${refs.length - mostNamed} more`] : []
  return [...refs.slice(0, mostNamed), ...more].join(', ')
}

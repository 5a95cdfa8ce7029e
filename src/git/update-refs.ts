import { internalPrefixes } from './commands.ts'
import { GitError } from './git-error.ts'
import { isZero, parseRefName } from './parse.ts'
import { proposeUpdate } from './proposal.ts'
import type { Quarantine } from './quarantine.ts'
import { currentValues } from './reconcile.ts'
import { RefRefusal } from './ref-update.ts'
import type {
  RefGuard,
  RefJournal,
  RefUpdate,
  Rejection,
  RejectionReason,
  UpdateOutcome,
} from './ref-update.ts'
import type { Repository } from './repository.ts'
import { run, stopIfAborted } from './run.ts'

export interface UpdateOptions {
  /** `client`: what somebody pushed; then the refs that only the service writes are refused. */
  readonly from: 'client' | 'service'
  readonly guard: RefGuard
  readonly journal: RefJournal
  /** All or nothing. Without it every ref moves or fails by itself. */
  readonly atomic?: boolean
  /** Objects that the new values need, let in once the guard agrees. The caller disposes of it afterwards. */
  readonly quarantine?: Quarantine | undefined
  readonly pushOptions?: readonly string[]
  /** Looked at until the first ref moves; from there on the update goes to its end. */
  readonly signal?: AbortSignal | undefined
}

/** For what the service does on its own account, such as refs for pipelines. */
export const allowAll: RefGuard = { check: () => Promise.resolve([]) }

/**
 * The one door through which refs move. Names are checked, the guard is asked, the journal told, the refs moved with
 * their old values compared, the journal told again. Rejects only for failures of our own; then the journal may hold
 * prepared updates for `reconcile`.
 */
export async function updateRefs(
  repository: Repository,
  updates: readonly RefUpdate[],
  options: UpdateOptions,
): Promise<UpdateOutcome> {
  const rejected = screen(updates, options.from)
  const broken = new Set(rejected.map(({ update }) => update))
  const candidates = updates.filter((update) => !broken.has(update))
  if (options.atomic === true && rejected.length > 0) {
    return { applied: [], rejected: [...rejected, ...candidates.map(failedTogether)] }
  }
  if (candidates.length === 0) return { applied: [], rejected }

  const declined = await askGuard(repository, candidates, options)
  if (declined.length > 0) return { applied: [], rejected: [...rejected, ...declined] }

  stopIfAborted(options.signal)
  await options.quarantine?.migrate()
  let entry: unknown
  try {
    entry = await options.journal.prepare(candidates)
  } catch (error) {
    if (!(error instanceof RefRefusal)) throw error
    const refused = candidates.map((update) => reject(update, 'refused', error.message))
    return { applied: [], rejected: [...rejected, ...refused] }
  }
  const outcome = await apply(repository, candidates, options.atomic === true)
  if (outcome.applied.length > 0) await options.journal.applied(entry, outcome.applied)
  else await options.journal.abandoned(entry)
  return { applied: outcome.applied, rejected: [...rejected, ...outcome.rejected] }
}

function reject(update: RefUpdate, reason: RejectionReason, message: string): Rejection {
  return { update, reason, message }
}

function failedTogether(update: RefUpdate): Rejection {
  return reject(update, 'atomic', 'atomic push failure')
}

/** Refuses what no rule needs to be asked about. The words are those of git's own receive-pack. */
function screen(updates: readonly RefUpdate[], from: UpdateOptions['from']): Rejection[] {
  const seen = new Map<string, number>()
  for (const { ref } of updates) seen.set(ref, (seen.get(ref) ?? 0) + 1)
  return updates.flatMap((update) => {
    const { ref, oldOid, newOid } = update
    if (parseRefName(ref) === undefined) return [reject(update, 'invalid', 'funny refname')]
    if (from === 'client' && internalPrefixes.some((prefix) => `${ref}/`.startsWith(prefix))) {
      return [reject(update, 'invalid', `deny ${isZero(newOid) ? 'deleting' : 'updating'} a hidden ref`)]
    }
    if (seen.get(ref) !== 1) return [reject(update, 'invalid', 'multiple updates for one ref')]
    if (isZero(oldOid) && isZero(newOid)) return [reject(update, 'stale', 'failed to update ref')]
    return []
  })
}

/** One refusal stops all, as a pre-receive hook would. */
async function askGuard(
  repository: Repository,
  updates: readonly RefUpdate[],
  { guard, quarantine, pushOptions = [] }: UpdateOptions,
): Promise<Rejection[]> {
  const objects = quarantine?.repository ?? repository
  const refusals = await guard.check({
    updates: updates.map((update) => proposeUpdate(objects, update)),
    objects,
    pushOptions,
  })
  if (refusals.length === 0) return []
  return updates.map((update) => {
    const refusal = refusals.find(({ ref }) => ref === update.ref)
    return refusal === undefined
      ? reject(update, 'declined', 'another ref of this push was refused')
      : reject(update, 'refused', refusal.message)
  })
}

async function apply(
  repository: Repository,
  updates: readonly RefUpdate[],
  atomic: boolean,
): Promise<UpdateOutcome> {
  const together = await transaction(repository, updates)
  if (together === undefined) return { applied: updates, rejected: [] }
  if (updates.length === 1) return { applied: [], rejected: [{ update: updates[0]!, ...together }] }
  if (atomic) {
    const blamed = updates.filter(({ ref }) => together.said.includes(`'${ref}'`))
    return {
      applied: [],
      rejected: updates.map((update) =>
        blamed.length === 0 || blamed.includes(update) ? { update, ...together } : failedTogether(update),
      ),
    }
  }
  // Something in the bundle failed: now each by itself, in the order of the push.
  const applied: RefUpdate[] = []
  const rejected: Rejection[] = []
  for (const update of updates) {
    const problem = await transaction(repository, [update])
    if (problem === undefined) applied.push(update)
    else rejected.push({ update, reason: problem.reason, message: problem.message })
  }
  return { applied, rejected }
}

interface Problem {
  readonly reason: RejectionReason
  readonly message: string
  readonly said: string
}

/** Moves all these refs or none; tells why not. */
async function transaction(
  repository: Repository,
  updates: readonly RefUpdate[],
): Promise<Problem | undefined> {
  const lines = updates.map(({ ref, oldOid, newOid }) =>
    isZero(newOid) ? `delete ${ref}\0${oldOid}\0` : `update ${ref}\0${newOid}\0${oldOid}\0`,
  )
  const { exitCode, stdout, stderr } = await run(repository, 'update-ref', {
    flags: ['--stdin', '-z'],
    input: `start\0${lines.join('')}prepare\0commit\0`,
    accept: [0, 1, 128],
  })
  if (exitCode === 0) return undefined
  if (stdout.includes('prepare: ok')) {
    // It broke while committing: what git did counts, not what it said.
    const values = await currentValues(repository, updates)
    const moved = updates.filter(({ ref, newOid }) => values.get(ref) === newOid)
    if (moved.length === updates.length) return undefined
    if (moved.length > 0) throw new GitError('failed', 'git update-ref stopped halfway', { exitCode, stderr })
  }
  return { ...explain(stderr), said: stderr }
}

function explain(stderr: string): { reason: RejectionReason; message: string } {
  if (/exists; cannot create|at the same time|refs under|non-empty directory/.test(stderr)) {
    return { reason: 'conflict', message: 'the name conflicts with existing refs' }
  }
  if (/nonexistent object|non-commit object|not a valid SHA1|missing object/.test(stderr)) {
    return { reason: 'bad-object', message: 'the new value is missing or no commit' }
  }
  if (/but expected|already exists|unable to resolve|reference is missing|File exists/.test(stderr)) {
    return { reason: 'stale', message: 'failed to update ref' }
  }
  return { reason: 'failed', message: 'failed to update ref' }
}

import { randomUUID } from 'node:crypto'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { LeasedWork } from '../../tasks/index.ts'

export type Outcome =
  { readonly ok: true } | { readonly ok: false; readonly error: string; readonly passing: boolean }

/** A mirror, and under which name this node has taken it. */
interface Claimed {
  readonly id: number
  readonly runner: string
}

/** What there is to do of one kind. */
export interface MirrorKind<Mirror extends Claimed> {
  readonly table: 'push_mirrors' | 'pull_mirrors' | 'repository_imports'
  /** The next that is due, from now on `runner`'s for so many seconds; it stays due until it is settled. */
  claim(runner: string, seconds: number): Promise<Mirror | undefined>
  /** Rejects only where it was stopped. */
  run(mirror: Mirror, signal: AbortSignal): Promise<Outcome>
  settle(runner: string, outcome: Outcome): Promise<void>
}

/** Mirrors that one node brings up to date at one time: each may have to wait for a slow host. */
const atOnce = 4
/** Milliseconds that bringing one mirror up to date may take. */
const patience = 30 * 60_000
const longestError = 2000

/** Brings mirrors up to date; the tasks only say that there is something to do. */
export function mirrorWork<Mirror extends Claimed>(
  kind: MirrorKind<Mirror>,
  { db, settings, log }: { readonly db: Database; readonly settings: Settings; readonly log: Logger },
): LeasedWork<Mirror> {
  const table = sql.table(kind.table)
  return new LeasedWork<Mirror>({
    log,
    atOnce,
    claim: async (seconds) =>
      settings.values.silent_mode_enabled ? undefined : kind.claim(randomUUID(), seconds),
    async extend(mirrors, seconds) {
      const { rows } = await sql<{ id: number }>`
        update ${table} set running_until = now() + make_interval(secs => ${seconds}::int)
        where runner = any (${mirrors.map(({ runner }) => runner)}::uuid[]) returning id`.execute(db.writer)
      return new Set(rows.map(({ id }) => id))
    },
    /** It is as due as it was. */
    async release({ runner }) {
      await sql`
        update ${table} set runner = null, running_until = null, update_status = 'scheduled'
        where runner = ${runner}`.execute(db.writer)
    },
    async run(mirror, signal) {
      const tooLong = AbortSignal.timeout(patience)
      const outcome = await kind
        .run(mirror, AbortSignal.any([signal, tooLong]))
        .catch((error: unknown): Outcome => {
          if (signal.aborted || !tooLong.aborted) throw error
          return { ok: false, error: 'It took too long', passing: true }
        })
      const shown = outcome.ok ? outcome : { ...outcome, error: outcome.error.slice(0, longestError) }
      await kind.settle(mirror.runner, shown)
    },
  })
}

import { ApiError } from '../../kernel/errors/index.ts'
import { ArchiveFault } from '../project-archives/index.ts'
import { waitForExport } from './wait.ts'
import { look } from './look.ts'
import { load } from './load.ts'
import { SourceTrouble, Superseded, TransferFault } from './faults.ts'
import { looking, waiting } from './relations.ts'
import { tokenContext, type TransferRoom } from './services.ts'
import { Source } from './source.ts'
import * as store from './step-store.ts'
import type { Step } from './step-store.ts'

/** Times that a step is begun. */
const mostAttempts = 5

/** Does a step. What goes wrong is told by rows; throws when it was interrupted. */
export async function runStep(room: TransferRoom, step: Step, signal: AbortSignal): Promise<void> {
  const { db, cipher, outbound, log } = room
  try {
    if (step.attempts > mostAttempts) throw new TransferFault('It was interrupted too often.')
    const source = new Source(outbound, step.sourceUrl, cipher.open(step.accessToken, tokenContext), signal)
    const work = step.relation === looking ? look : step.relation === waiting ? waitForExport : load
    await work(room, step, source, signal)
  } catch (error) {
    if (error instanceof Superseded) return
    if (signal.aborted) throw error
    if (error instanceof SourceTrouble && step.attempts < mostAttempts) {
      await store.postpone(db.writer, step, secondsBefore(step.attempts))
      return
    }
    const fault = faultOf(error, step)
    if (!isKnown(error))
      log.warn({ err: error, entity: step.entityId, relation: step.relation }, 'a step failed')
    await db
      .transaction((tx) => store.giveUp(tx, step, fault, 'failed'))
      .catch((failure: unknown) => {
        if (!(failure instanceof Superseded)) throw failure
      })
  }
}

/** Seconds until the next attempt: 1, 4, 16, 64. */
const secondsBefore = (attempts: number): number => 4 ** (attempts - 1)

const isKnown = (error: unknown): boolean =>
  error instanceof TransferFault || error instanceof ArchiveFault || error instanceof ApiError

/** Without its first two steps there is no entity. */
function faultOf(error: unknown, { stage }: Step): TransferFault {
  const first = stage < 2
  if (error instanceof TransferFault) {
    return first && !error.fatal
      ? new TransferFault(error.message, { phase: error.phase, fatal: true })
      : error
  }
  const text = isKnown(error) ? (error as Error).message.slice(0, 500) : 'It could not be taken.'
  const phase = error instanceof ArchiveFault ? 'extractor' : 'loader'
  return new TransferFault(text, { phase, fatal: first })
}

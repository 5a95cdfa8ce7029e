import { ApiError } from '../../kernel/errors/index.ts'
import { HostFault, HostLimit, HostTrouble, Superseded } from './faults.ts'
import { takerOf } from './takers.ts'
import type { HostImportRoom } from './services.ts'
import * as store from './step-store.ts'
import type { Step } from './step-store.ts'

/** Times that a step is begun. */
const mostAttempts = 5
/** Pieces of one relation, and hours of an import: a host must not keep us busy for ever. */
const mostPieces = 1_000_000
const longest = 14 * 24

/** Does a step. What goes wrong is told by rows; throws when it was interrupted. */
export async function runStep(room: HostImportRoom, step: Step, signal: AbortSignal): Promise<void> {
  const { db, log } = room
  try {
    if (step.attempts > mostAttempts) throw new HostFault('It was interrupted too often.')
    if (step.number > mostPieces) throw new HostFault('The host has more of it than can be brought.')
    if (step.age > longest) throw new HostFault('It took too long.', { fatal: true })
    await takerOf(step)(room, step, signal)
  } catch (error) {
    if (error instanceof Superseded) return
    if (signal.aborted) throw error
    if (error instanceof HostLimit) {
      await store.pause(db.writer, step, error.seconds)
      return
    }
    if (error instanceof HostTrouble && step.attempts < mostAttempts) {
      await store.postpone(db.writer, step, secondsBefore(step.attempts))
      return
    }
    if (!(error instanceof HostFault || error instanceof ApiError)) {
      log.warn({ err: error, import: step.importId, relation: step.relation }, 'a step failed')
    }
    await db
      .transaction((tx) => store.giveUp(tx, step, faultOf(error)))
      .catch((failure: unknown) => {
        if (!(failure instanceof Superseded)) throw failure
      })
  }
}

/** Seconds until the next attempt: 1, 4, 16, 64. */
const secondsBefore = (attempts: number): number => 4 ** (attempts - 1)

function faultOf(error: unknown): HostFault {
  if (error instanceof HostFault) return error
  return new HostFault(error instanceof ApiError ? error.message.slice(0, 500) : 'It could not be taken.')
}

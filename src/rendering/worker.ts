import { parentPort } from 'node:worker_threads'
import { draft, finish, type Draft } from './pipeline.ts'
import type { Candidate, RenderInput, Resolved } from './types.ts'

/** To the worker. `resolved` with a job: what its references mean is known already. */
export type ToWorker =
  | {
      readonly kind: 'render'
      readonly id: number
      readonly input: RenderInput
      readonly resolved?: Resolved
    }
  | { readonly kind: 'resolved'; readonly id: number; readonly resolved: Resolved }

/** From the worker. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'candidates'; readonly id: number; readonly candidates: readonly Candidate[] }
  | {
      readonly kind: 'html'
      readonly id: number
      readonly html: string
      readonly candidates: readonly Candidate[]
    }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }

const port = parentPort!
const waiting = new Map<number, { input: RenderInput; made: Draft }>()

function send(message: FromWorker): void {
  port.postMessage(message)
}

async function take(message: ToWorker): Promise<void> {
  const { id } = message
  try {
    if (message.kind === 'render') {
      const { input, resolved } = message
      const made = await draft(input)
      if (resolved !== undefined || made.candidates.length === 0) {
        send({ kind: 'html', id, html: finish(made, input, resolved ?? {}), candidates: made.candidates })
      } else {
        waiting.set(id, { input, made })
        send({ kind: 'candidates', id, candidates: made.candidates })
      }
      return
    }
    const job = waiting.get(id)
    waiting.delete(id)
    if (job === undefined) return
    const { made, input } = job
    send({ kind: 'html', id, html: finish(made, input, message.resolved), candidates: made.candidates })
  } catch (error) {
    waiting.delete(id)
    send({ kind: 'failed', id, reason: error instanceof Error ? error.message : 'unknown' })
  }
}

port.on('message', (message: ToWorker) => void take(message))
send({ kind: 'ready' })

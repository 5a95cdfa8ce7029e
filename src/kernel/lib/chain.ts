import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

/**
 * Calls of webhooks that lead to one another. Who is called and calls back names the call in the header
 * `X-Gitlab-Event-UUID`; what he causes then, at once or in tasks, belongs to the same chain.
 */
export interface Chain {
  /** Of what happened first. */
  readonly uuid: string
  /** Of the request that called back: one link of the chain. */
  readonly link: string
}

const storage = new AsyncLocalStorage<Chain>()
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** The chain that a request goes on with; undefined when the header says nothing of the kind. */
export function chainOfHeader(header: string | string[] | undefined): Chain | undefined {
  return typeof header === 'string' && uuid.test(header) ? { uuid: header, link: randomUUID() } : undefined
}

export function currentChain(): Chain | undefined {
  return storage.getStore()
}

export function inChain<T>(chain: Chain | undefined, run: () => T): T {
  return chain === undefined ? run() : storage.run(chain, run)
}

/** The field of a task's payload that keeps the chain it was queued in. */
const field = '$chain'

export function withChain(payload: object): object {
  const chain = currentChain()
  return chain === undefined ? payload : { ...payload, [field]: chain }
}

export function chainOfPayload(payload: unknown): Chain | undefined {
  return (payload as { [field]?: Chain } | null)?.[field]
}

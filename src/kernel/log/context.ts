import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'

/** What the log line of one request tells at its end. For logs and metrics only; nothing decides by it. */
export interface RequestContext {
  readonly id: string
  readonly startedAt: number
  sqlCount: number
  /** Filled in once known. */
  endpoint?: string
  actor?: string
  /** Headers that go with the answer, whatever it will be. */
  headers?: Readonly<Record<string, string>>
}

/** What is told on the channel of statements. */
export interface SentStatement {
  readonly text: string
  /** The request it was sent for; undefined for work beside requests. */
  readonly requestId: string | undefined
}

/** The diagnostics channel that tells every SQL statement, for tests and for looking into a running program. */
export const statementChannel = 'guildhall.sql'

const storage = new AsyncLocalStorage<RequestContext>()
const statements = channel(statementChannel)

export function runInContext<T>(context: RequestContext, run: () => T): T {
  return storage.run(context, run)
}

export function requestContext(): RequestContext | undefined {
  return storage.getStore()
}

/** Names what a request that is for no endpoint of the API is for. */
export function nameRequest(name: string): void {
  const context = storage.getStore()
  if (context !== undefined) context.endpoint = name
}

/** Called by the database for each statement it sends. */
export function countStatement(text: string, context = storage.getStore()): void {
  if (context !== undefined) context.sqlCount += 1
  if (statements.hasSubscribers) statements.publish({ text, requestId: context?.id } satisfies SentStatement)
}

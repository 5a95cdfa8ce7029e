import { AsyncLocalStorage } from 'node:async_hooks'

/** What the log line of one request tells at its end. For logs and metrics only; nothing decides by it. */
export interface RequestContext {
  readonly id: string
  readonly startedAt: number
  sqlCount: number
  /** Filled in once known. */
  endpoint?: string
  actor?: string
}

const storage = new AsyncLocalStorage<RequestContext>()

export function runInContext<T>(context: RequestContext, run: () => T): T {
  return storage.run(context, run)
}

export function requestContext(): RequestContext | undefined {
  return storage.getStore()
}

/** Called by the database for each statement it sends. */
export function countStatement(): void {
  const context = storage.getStore()
  if (context !== undefined) context.sqlCount += 1
}

import { AsyncLocalStorage } from 'node:async_hooks'

const users = new AsyncLocalStorage<number>()

/**
 * Calls of the public API that `work` makes inside the service act as this user, with all that he may and nothing more.
 * For who has shown who he is elsewhere, as in a chat; nothing that a request carries can bring this about.
 */
export function inNameOf<T>(userId: number, work: () => Promise<T>): Promise<T> {
  return users.run(userId, work)
}

export function userInWhoseName(): number | undefined {
  return users.getStore()
}

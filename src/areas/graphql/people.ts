import { written, type Asking, type Shown } from './asking.ts'
import { connectionOf, type PageArguments } from './connections.ts'
import { globalId, readGlobalId } from './ids.ts'

export interface ShownUser extends Shown {
  readonly web_url: string
}

export async function currentUser(asking: Asking): Promise<unknown> {
  const own = asking.actor.user
  return own === null ? null : user(await asking.get(`/users/${own.id}`))
}

export async function findUser(
  asking: Asking,
  { id, username }: { readonly id?: unknown; readonly username?: string | null },
): Promise<unknown> {
  if (id != null) return user(await asking.get(`/users/${readGlobalId(id, 'User').id}`))
  if (username == null) return null
  const found = await asking.get<ShownUser[]>(`/users?${written({ username })}`)
  return user(found?.[0])
}

export function user(shown: ShownUser | null | undefined): unknown {
  if (shown == null) return null
  // The one type of its interface.
  const __typename = 'UserCore'
  return { ...shown, __typename, id: globalId('User', shown.id), webPath: pathOf(shown.web_url) }
}

export function users(shown: readonly ShownUser[], asked: PageArguments): unknown {
  return connectionOf(shown, asked, user)
}

/** Of an address of this service. */
export function pathOf(url: string): string {
  return new URL(url).pathname
}

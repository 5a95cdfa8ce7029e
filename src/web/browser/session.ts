import { call, readIfThere } from './api.ts'
import type { Me } from './entities.ts'
import { address, endpoint } from './here.ts'

let asked: Promise<Me | undefined> | undefined

/** Who is signed in; undefined where nobody is. */
export function me(): Promise<Me | undefined> {
  asked ??= readIfThere<Me>(endpoint`/user`)
  return asked
}

/** Ends the session, if there is one, and goes where the service says; the tab keeps nothing. */
export async function signOut(): Promise<void> {
  // With it the session would be left alone.
  sessionStorage.removeItem('token')
  const response = await call('POST', address`/users/sign_out`)
  const { location: next } = (await response.json()) as { readonly location: string }
  sessionStorage.clear()
  location.assign(next)
}

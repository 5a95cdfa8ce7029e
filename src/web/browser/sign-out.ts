import { call } from './api.ts'
import { address } from './here.ts'

/** Ends the session, if there is one, and goes where the service says; the tab keeps nothing. */
export async function signOut(): Promise<void> {
  // With it the session would be left alone.
  sessionStorage.removeItem('token')
  const response = await call('POST', address`/users/sign_out`)
  const { location: next } = (await response.json()) as { readonly location: string }
  sessionStorage.clear()
  location.assign(next)
}

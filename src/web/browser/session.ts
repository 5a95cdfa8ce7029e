import { readIfThere, Refusal } from './api.ts'
import type { Me } from './entities.ts'
import { endpoint } from './here.ts'

let asked: Promise<Me | undefined> | undefined

/** Who is signed in; undefined where nobody is. */
export function me(): Promise<Me | undefined> {
  asked ??= readIfThere<Me>(endpoint`/user`)
  return asked
}

/** As `me`, for pages that are of no use to others. Throws a Refusal. */
export async function whoIsSignedIn(): Promise<Me> {
  const user = await me()
  if (user === undefined) throw new Refusal(401, 'Nobody is signed in.')
  return user
}

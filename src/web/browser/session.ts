import { readIfThere } from './api.ts'
import type { Me } from './entities.ts'
import { endpoint } from './here.ts'

let asked: Promise<Me | undefined> | undefined

/** Who is signed in; undefined where nobody is. */
export function me(): Promise<Me | undefined> {
  asked ??= readIfThere<Me>(endpoint`/user`)
  return asked
}

import { tags } from '../dom.ts'
import type { Person } from '../entities.ts'
import { address } from '../here.ts'
import { avatar } from './avatar.ts'

/** Somebody, leading to what is theirs. */
export function person(one: Pick<Person, 'name' | 'username' | 'avatar_url'>): HTMLElement {
  return tags.a({ className: 'person', href: address`/${one.username}` }, avatar(one), ' ', one.name)
}

import { tags } from '../dom.ts'
import { address, rootRelative } from '../here.ts'
import { me } from '../session.ts'
import { signOut } from '../sign-out.ts'
import { action } from './action.ts'
import { avatar } from './avatar.ts'

const { a, details, summary, ul, li } = tags

/** At the end of the bar: who is signed in, and what only they can do; or where to sign in. */
export async function account(): Promise<HTMLElement> {
  const user = await me()
  if (user === undefined) return signInLink('Sign in')
  return details(
    { className: 'dropdown' },
    summary({ 'aria-label': `${user.name}: account` }, avatar(user)),
    ul(
      li(a({ href: address`/${user.username}` }, user.name)),
      user.is_admin === true && li(a({ href: address`/-/settings` }, 'Settings of the instance')),
      li(action('Sign out', signOut)),
    ),
  )
}

/** Leads to signing in, and back to this page. */
export function signInLink(words: string): HTMLElement {
  const page = new URL(address`/users/sign_in`)
  page.searchParams.set('return_to', rootRelative(location.href))
  return a({ href: page.href }, words)
}

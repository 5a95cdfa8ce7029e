import { randomBytes } from 'node:crypto'
import { digestToken } from '../../kernel/lib/secrets.ts'
import { redirectFault, urisIn } from './redirects.ts'
import { oauthScopes, scopesIn } from './scopes.ts'

/** Something that acts for people who let it. */
export interface Application {
  readonly id: number
  readonly uid: string
  readonly secret_digest: string
  readonly name: string
  readonly redirect_uris: readonly string[]
  readonly scopes: readonly string[]
  /** It can keep a secret. */
  readonly confidential: boolean
  /** Of the house: nobody is asked before it acts for him. */
  readonly trusted: boolean
  readonly owner_id: number | null
}

/** An application as it is asked for: addresses one a line, scopes with blanks between. */
export interface ApplicationOrder {
  readonly name: string
  readonly redirectUri: string
  readonly scopes: string
}

const longestName = 255
const longestUri = 2000
const mostUris = 50

/** What is wrong with an application, by field; empty when nothing is. */
export function applicationFaults({ name, redirectUri, scopes }: ApplicationOrder): Record<string, string[]> {
  const faults: Record<string, string[]> = {}
  if (name.trim() === '') faults['name'] = ["can't be blank"]
  else if (name.length > longestName) faults['name'] = [`is too long (maximum is ${longestName} characters)`]
  const uris = urisIn(redirectUri)
  const uriFaults = [
    ...(uris.length === 0 ? ["can't be blank"] : []),
    ...(uris.length > mostUris ? [`is too long (maximum is ${mostUris} entries)`] : []),
    ...uris.flatMap((uri) =>
      uri.length > longestUri
        ? [`is too long (maximum is ${longestUri} characters)`]
        : (redirectFault(uri) ?? []),
    ),
  ]
  if (uriFaults.length > 0) faults['redirect_uri'] = [...new Set(uriFaults)]
  const asked = scopesIn(scopes)
  if (asked.length === 0) faults['scopes'] = ["can't be blank"]
  else if (asked.some((scope) => !oauthScopes.includes(scope))) {
    faults['scopes'] = ["doesn't match configured on the server."]
  }
  return faults
}

/** By which an application is known, and what it shows to prove it; the secret is kept as a digest only. */
export function newUid(): string {
  return randomBytes(32).toString('hex')
}

export function newSecret(): { readonly secret: string; readonly digest: string } {
  const secret = `gloas-${randomBytes(32).toString('hex')}`
  return { secret, digest: digestToken(secret) }
}

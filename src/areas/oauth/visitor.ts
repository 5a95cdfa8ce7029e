import type { FastifyRequest } from 'fastify'
import { csrfTokenOf, enter, entryProblem, instance, sessionOf, type User } from '../../access/index.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'
import { isOwnPage, readForm } from '../sessions/index.ts'
import type { OAuthServices } from './services.ts'

/** Who is signed in to the browser that asks. */
export interface SignedInVisitor {
  readonly user: User
  /** What forms carry by which it is known that a page of ours sent them. */
  readonly csrfToken: string
}

/** Undefined for nobody; a text for somebody who may not act, and why. */
export async function visitorOf(
  { db, settings, externalUrl }: Pick<OAuthServices, 'db' | 'settings' | 'externalUrl'>,
  { headers }: FastifyRequest,
): Promise<SignedInVisitor | string | undefined> {
  const session = sessionOf(headers)
  if (session === undefined) return undefined
  const { values } = settings
  const credentials = {
    kind: 'session',
    digest: digestToken(session),
    sudo: undefined,
    remembers: values.remember_me_enabled,
  } as const
  const { actor } = await enter(db, instance, credentials, { id: undefined, secretDigest: undefined })
  if (actor?.user == null) return undefined
  const problem = entryProblem(actor.user, { values, externalUrl: externalUrl() })
  return problem ?? { user: actor.user, csrfToken: csrfTokenOf(session) }
}

export type Form = Readonly<Record<string, string>>

/** The fields of a form that our page sent in this session; undefined when it is another's. */
export async function formOf(request: FastifyRequest, visitor: SignedInVisitor): Promise<Form | undefined> {
  const form = isOwnPage(request) ? await readForm(request.raw) : undefined
  return form?.['authenticity_token'] === visitor.csrfToken ? form : undefined
}

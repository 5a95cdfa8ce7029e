import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Reader } from '../../kernel/db/index.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'
import type { Application } from './applications.ts'
import { invalidClient } from './refusal.ts'
import { findByUid } from './store.ts'
import type { Form } from './visitor.ts'

/**
 * The application that asks, by HTTP Basic or by fields of the form. One that can keep a secret must show it; undefined
 * when none is named at all.
 */
export async function clientOf(
  db: Reader,
  { headers }: FastifyRequest,
  form: Form,
): Promise<Application | undefined> {
  const named = byBasic(headers.authorization) ?? { uid: form['client_id'], secret: form['client_secret'] }
  if (named.uid === undefined || named.uid === '') return undefined
  const application = await findByUid(db, named.uid)
  if (application === undefined || !isProven(application, named.secret)) throw invalidClient()
  return application
}

/** As `clientOf`, where one must be named. */
export async function knownClient(db: Reader, request: FastifyRequest, form: Form): Promise<Application> {
  const application = await clientOf(db, request, form)
  if (application === undefined) throw invalidClient()
  return application
}

function isProven({ confidential, secret_digest: digest }: Application, secret: string | undefined): boolean {
  if (secret === undefined || secret === '') return !confidential
  return timingSafeEqual(Buffer.from(digestToken(secret)), Buffer.from(digest))
}

/** Name and secret are encoded as in forms (RFC 6749, 2.3.1); some clients do not, which is the same for ours. */
function byBasic(authorization = ''): { readonly uid: string; readonly secret: string } | undefined {
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8').replaceAll('\0', '')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { uid: text.slice(0, colon), secret: text.slice(colon + 1) }
}

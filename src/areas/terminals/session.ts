import { X509Certificate } from 'node:crypto'
import { validateHeaderValue } from 'node:http'
import { sql, type Writer } from '../../kernel/db/index.ts'
import { Fields, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'
import { invalidParameters } from '../../kernel/errors/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'

/** What a runner announces when it asks for a job: where it would let somebody into it (completions, 8.2). */
export const AnnouncedSession = Fields({
  url: Optional(Nullable(Text())),
  certificate: Optional(Nullable(Text({ description: 'PEM; the only one that is trusted there' }))),
  authorization: Optional(Nullable(Text({ description: 'Sent there as the header `Authorization`' }))),
})

interface Announced {
  readonly url?: string | null | undefined
  readonly certificate?: string | null | undefined
  readonly authorization?: string | null | undefined
}

/** Where the terminal of a job is reached. */
export interface JobSession {
  readonly url: string
  /** Null: the certificate is one that everybody trusts. */
  readonly certificate: string | null
  readonly authorization: string | null
}

const secretContext = 'ci_job_sessions.secret'

/** Runners without a session server announce none, or an empty address. */
export function sessionOf(announced: Announced | null | undefined): JobSession | undefined {
  const { url, certificate, authorization } = announced ?? {}
  if (url == null || url === '') return undefined
  const faults = [
    ...(URL.parse(url)?.protocol === 'https:' ? [] : ['url']),
    ...(certificate == null || certificate === '' || isCertificate(certificate) ? [] : ['certificate']),
    ...(authorization == null || isHeader(authorization) ? [] : ['authorization']),
  ]
  if (faults.length > 0) throw invalidParameters(faults.map((name) => `session[${name}] is invalid`))
  return {
    url,
    certificate: certificate === '' ? null : (certificate ?? null),
    authorization: authorization ?? null,
  }
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0
  } catch {
    return false
  }
}

function isHeader(text: string): boolean {
  try {
    validateHeaderValue('authorization', text)
    return true
  } catch {
    return false
  }
}

/** Keeps it for as long as the job runs. */
export async function keepSession(
  { db, cipher }: { readonly db: { readonly writer: Writer }; readonly cipher: Cipher },
  jobId: number,
  session: JobSession,
): Promise<void> {
  // The row of the job is locked, so that a job that ends in this moment takes its session along.
  await sql`
    insert into ci_job_sessions (job_id, secret)
    select j.id, ${cipher.seal(JSON.stringify(session), secretContext)} from ci_jobs j
    where j.id = ${jobId} and j.status in ('running', 'canceling') for share
    on conflict (job_id) do update set secret = excluded.secret`.execute(db.writer)
}

export function openSession(cipher: Cipher, secret: string): JobSession {
  return JSON.parse(cipher.open(secret, secretContext)) as JobSession
}

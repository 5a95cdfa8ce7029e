import { isAdministrator, type Actor } from '../../access/index.ts'
import { badRequest, forbidden } from '../../kernel/errors/index.ts'
import type { TriggerRow } from './entities.ts'

export const maximumPerProject = 25_000
/** Refuses, with the texts of the completions (4.3), an end that is further away than `longest` days. */
export function checkEnd(expiresAt: Date | null, now: Date, longest: number): void {
  const last = new Date(now.getTime() + longest * 86_400_000).toISOString().slice(0, 10)
  if (expiresAt === null || expiresAt <= new Date(last)) return
  throw badRequest(JSON.stringify({ expires_at: [`must be before ${last}`] }))
}

/** Only its owner and administrators change a token, since it acts in the owner's name. */
export function checkOwner(actor: Actor, { owner }: TriggerRow): void {
  if (isAdministrator(actor) || (owner !== null && owner.id === actor.user?.id)) return
  throw forbidden('The current user is not authorized to update the pipeline trigger token')
}

export function limitReached(): Error {
  const text = `Maximum number of pipeline triggers (${maximumPerProject}) exceeded`
  return badRequest(JSON.stringify({ base: [text] }))
}

/** Parameters by which a caller may show who he is; what is handed on to jobs leaves them out. */
const credentials: ReadonlySet<string> = new Set(['token', 'private_token', 'access_token', 'job_token'])

/** The text of the variable that tells a pipeline what it was started with (completions, 4.6). */
export function payloadOf(sent: Readonly<Record<string, unknown>>): string {
  const { id, variables = {}, ...others } = sent
  const told = Object.entries(others).filter(([name]) => !credentials.has(name))
  return JSON.stringify({ ...Object.fromEntries(told), id, variables })
}

import { isAdministrator, userOf, type Actor } from '../../access/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { forbidden, invalid, refused } from '../../kernel/errors/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import { anyScheme, shownAddress } from './address.ts'
import { contexts } from './entities.ts'
import { enqueueDue } from './due.ts'
import { pullTask } from './pull.ts'
import * as store from './pull-store.ts'
import { checkAddress, checkPattern, requireMirroring } from './rules.ts'

export interface PullChangeServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly outbound: Outbound
  readonly settings: Settings
}

/** What is asked for of a project's pull mirror. */
export interface PullChange {
  readonly enabled?: boolean | undefined
  readonly url?: string | undefined
  readonly auth_user?: string | undefined
  readonly auth_password?: string | undefined
  readonly user_id?: number | undefined
  readonly trigger_builds?: boolean | undefined
  readonly only_protected_branches?: boolean | undefined
  readonly overwrites_diverged_branches?: boolean | undefined
  readonly branch_regex?: string | null | undefined
}

type Written = (tx: Tx, projectId: number) => Promise<store.PullMirrorRow>

/**
 * Looks at what is asked for, and gives what writes it. `undefined`: nothing is. `urlField`: how the address is called
 * in the request. `projectId`: undefined for a project that is about to be made.
 */
export async function changePullMirror(
  services: PullChangeServices,
  actor: Actor,
  projectId: number | undefined,
  change: PullChange,
  urlField: string,
): Promise<Written | undefined> {
  if (Object.values(change).every((value) => value === undefined)) return undefined
  const { db, cipher, outbound, settings } = services
  requireMirroring(settings, actor)
  const before = projectId === undefined ? undefined : await store.find(db.writer, projectId)
  // Who has no mirror and wants none has nothing to write.
  if (before === undefined && change.enabled !== true && (change.url ?? '') === '') return undefined
  const addressOf = (mirror: store.KnownMirror | undefined) => {
    const old = mirror === undefined ? undefined : cipher.open(mirror.address, contexts.pullAddress)
    return { old, url: addressWith(change, old, urlField) }
  }
  const { old, url } = addressOf(before)
  if (url !== old) await checkAddress(outbound, urlField, url, anyScheme)
  const user = await userFor(services, actor, change.user_id, before?.user_id)
  return async (tx, id) => {
    // Others may have changed it since: what is not asked for stays as they left it.
    const current = await store.lock(tx, id)
    const address = addressOf(current)
    const row = await store.save(tx, id, {
      ...valuesOf(change, current),
      user_id: change.user_id === undefined ? (current?.user_id ?? user) : user,
      address:
        address.url === address.old
          ? undefined
          : { sealed: cipher.seal(address.url, contexts.pullAddress), shown: shownAddress(address.url) },
    })
    if (row.enabled) await enqueueDue(tx, pullTask, { id: row.id, due_at: new Date() })
    return row
  }
}

/** The mirror with what is asked for, the rest as it is; 400 where a rule is broken. */
function valuesOf(
  change: PullChange,
  mirror: store.PullMirrorRow | undefined,
): Omit<store.Values, 'user_id' | 'address'> {
  const onlyProtected = change.only_protected_branches ?? mirror?.only_protected_branches ?? false
  const keptPattern = change.only_protected_branches === true ? null : (mirror?.branch_regex ?? null)
  return {
    enabled: change.enabled ?? mirror?.enabled ?? false,
    trigger_builds: change.trigger_builds ?? mirror?.trigger_builds ?? false,
    only_protected_branches: onlyProtected,
    overwrites_diverged_branches:
      change.overwrites_diverged_branches ?? mirror?.overwrites_diverged_branches ?? false,
    branch_regex:
      change.branch_regex === undefined
        ? keptPattern
        : checkPattern('mirror_branch_regex', change.branch_regex, { onlyProtected }),
  }
}

function addressWith(
  { url, auth_user: user, auth_password: password }: PullChange,
  old: string | undefined,
  field: string,
): string {
  const text = url?.trim() ?? old ?? ''
  if (text === '') throw invalid({ [field]: ["can't be blank"] })
  if (user === undefined && password === undefined) return text
  const parsed = URL.parse(text)
  if (parsed === null) throw invalid({ [field]: ['is blocked: URI is invalid'] })
  if (user !== undefined) parsed.username = user
  if (password !== undefined) parsed.password = password
  return parsed.href
}

/** Whoever sets a mirror up answers for it; administrators may name somebody else. */
async function userFor(
  { db }: PullChangeServices,
  actor: Actor,
  asked: number | undefined,
  before: number | null | undefined,
): Promise<number> {
  const own = userOf(actor).id
  if (asked === undefined) return before ?? own
  if (asked === own || asked === before) return asked
  if (!isAdministrator(actor)) throw forbidden()
  const user = await db.reader
    .selectFrom('users as u')
    .select('u.id')
    .where('u.id', '=', asked)
    .executeTakeFirst()
  if (user === undefined) throw invalid({ mirror_user_id: ['is invalid'] })
  return user.id
}

export const notMirrored = (): Error => refused(400, 'The project is not mirrored')

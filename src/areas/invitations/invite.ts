import { userOf, type Actor } from '../../access/index.ts'
import {
  addSeveral,
  faultsOf,
  mostAtOnce,
  sentence,
  tooManyNamed,
  unauthorizedText,
  type Candidate,
  type Place,
  type Wish,
  type AdditionServices,
  type circumstancesOf,
} from '../members/index.ts'
import { sendInvitation, type MailServices } from './mails.ts'
import * as store from './store.ts'

export interface Invitation {
  readonly actor: Actor
  readonly place: Place
  /** How the group or project is called. */
  readonly name: string
  readonly wish: Wish
  readonly circumstances: ReturnType<typeof circumstancesOf>
}

export type InvitingServices = AdditionServices & MailServices

/** What became of several invitations: faults by address or username, or one sentence where none could be made. */
export interface InvitedEntity {
  readonly status: 'success' | 'error'
  readonly message?: string | Readonly<Record<string, string>>
}

const address = /^[^@\s,]{1,64}@[^@\s,.]+(\.[^@\s,.]+)*$/

/** Invites addresses and adds users by id, each for itself: what goes well is kept. */
export async function invite(
  services: InvitingServices,
  invitation: Invitation,
  emails: readonly string[],
  userIds: readonly string[],
): Promise<InvitedEntity> {
  const wanted = [...new Set(emails.map((email) => email.trim()).filter((email) => email !== ''))]
  if (wanted.length + userIds.length === 0) return { status: 'error', message: 'Emails cannot be blank' }
  if (wanted.length + userIds.length > mostAtOnce) return { status: 'error', message: tooManyNamed.message! }
  const faults: Record<string, string> = {}
  for (const email of wanted) {
    const fault = await inviteOne(services, invitation, email)
    if (fault !== undefined) faults[email] = fault
  }
  for (const id of userIds) {
    const { status, message } = await addSeveral(services, invitation, 'id', [id])
    if (status === 'error') faults[id] = message ?? ''
  }
  return Object.keys(faults).length === 0 ? { status: 'success' } : { status: 'error', message: faults }
}

/** Who is invited, for the rules of members; `direct`: the invitation that there is. */
export function nobodyOf(email: string, direct: Candidate['direct']): Candidate {
  return { id: 0, username: email, kind: 'human', direct, inherited: null }
}

/** What is wrong, or undefined. The address of a user makes him a member at once. */
async function inviteOne(
  services: InvitingServices,
  { actor, place, name, wish, circumstances }: Invitation,
  email: string,
): Promise<string | undefined> {
  if (!address.test(email) || email.length > 254) return 'Invite email is invalid'
  const { db } = services
  const known = await store.lookUp(db.reader, place, email)
  if (known.asked) return `Member cannot be invited because they already requested to join ${name}`
  if (known.invited) return `Member already invited to ${name}`
  if (known.user_id !== null) {
    const { status, message } = await addSeveral(services, { actor, place, wish, circumstances }, 'id', [
      String(known.user_id),
    ])
    return status === 'error' ? (message?.replace(/^[^:]+: /, '') ?? '') : undefined
  }
  const nobody = nobodyOf(email, null)
  const fault =
    unauthorizedText(actor, place, wish, nobody) ?? sentence(faultsOf(wish, nobody, circumstances))
  if (fault !== '') return fault
  await db.transaction(async (tx) => {
    const id = await store.insert(tx, place, email, { ...wish, createdById: userOf(actor).id })
    if (id !== undefined) await sendInvitation(services, tx, id)
  })
  return undefined
}

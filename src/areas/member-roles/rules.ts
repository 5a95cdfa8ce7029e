import { lackingPermissions, type Permission } from '../../access/index.ts'
import { refused, type ApiError } from '../../kernel/errors/index.ts'

/** Roles that one tree of groups may have. */
const mostOfGroup = 10
const longestText = 255

export interface RoleState {
  readonly name: string
  readonly description: string | null
  readonly baseAccessLevel: number
  readonly permissions: readonly Permission[]
}

/** Where a role is kept: the instance, or a group. */
export interface RolePlace {
  readonly groupId: number | null
  /** A group below others keeps none. */
  readonly below: boolean
}

/** The other roles of the place. */
export interface Others {
  readonly number: number
  /** Whether one has the name. */
  readonly named: boolean
}

/** What is wrong with a role, in the words of the completions (2.3). */
export function refuseFaults(state: RoleState, { below, groupId }: RolePlace, others: Others): void {
  const faults: string[] = []
  if (state.name === '') faults.push("Name can't be blank")
  if (state.name.length > longestText) faults.push(tooLong('Name'))
  if (others.named) faults.push(nameTaken)
  if ((state.description?.length ?? 0) > longestText) faults.push(tooLong('Description'))
  if (below) faults.push('Namespace must be top-level namespace')
  if (groupId !== null && others.number >= mostOfGroup) faults.push(tooMany)
  faults.push(
    ...lackingPermissions(state.baseAccessLevel, state.permissions).map(
      ({ what, needs }) => `${inWords(needs)} has to be enabled in order to enable ${inWords(what)}`,
    ),
  )
  if (faults.length > 0) throw refused(400, faults.join(', '))
}

const tooLong = (field: string): string => `${field} is too long (maximum is ${longestText} characters)`

/** `read_code` is `Read code` */
function inWords(permission: Permission): string {
  const words = permission.replaceAll('_', ' ')
  return words[0]!.toUpperCase() + words.slice(1)
}

const nameTaken = 'Name has already been taken'

/** By a role that was made at the same time. */
export const nameIsTaken = (): ApiError => refused(400, nameTaken)

const tooMany =
  'Namespace maximum number of Member Roles are already in use by the group hierarchy. Please delete an existing Member Role.'

export const baseIsFixed = (): ApiError =>
  refused(400, 'Base access level cannot be changed. Please create a new Member Role instead.')

export const inUse = (): ApiError =>
  refused(
    400,
    'Role is assigned to one or more group members. Remove role from all group members, then delete role.',
  )

import { sql } from '../../../kernel/db/index.ts'
import { roleName, visibilityName } from '../../../access/index.ts'
import { plainTime, shownEmail, type Builder, type Built, type GroupRow, type UserRow } from './parts.ts'

/**
 * What the database announces of a row, as it was in that moment (`migrations/0201-news-of-records.ts`). Webhooks of
 * the instance belong to administrators, who know the addresses of all; others see those that are public.
 */
interface RecordNews<Action extends string, Facts> {
  readonly action: Action
  readonly record: Facts & Dated
}

interface Dated {
  readonly created_at: string
  readonly updated_at: string
}

type Person = UserRow & Dated & { readonly state: string }

const times = ({ created_at, updated_at }: Dated): object => ({
  created_at: plainTime(created_at),
  updated_at: plainTime(updated_at),
})

interface ProjectFacts {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly namespace_id: number
  readonly visibility: number
  /** Of the group, or whoever has the namespace. */
  readonly home: { readonly name: string; readonly email?: string }
  readonly owners: readonly Person[]
}

type ProjectNews = RecordNews<'create' | 'destroy' | 'rename' | 'transfer' | 'update', ProjectFacts> & {
  readonly oldFullPath: string | null
}

/** Of a project that was made, changed, renamed, moved or deleted; groups hear of the first and the last. */
export const buildProject: Builder<ProjectNews> = async (_services, { payload }) => {
  const { action, record, oldFullPath } = payload
  const shown = (mailOf: (person: Person) => string): object => ({
    event_name: `project_${action}`,
    ...times(record),
    name: record.name,
    path: record.path,
    path_with_namespace: record.full_path,
    project_id: record.id,
    project_namespace_id: record.namespace_id,
    owners: record.owners.map((person) => ({ name: person.name, email: mailOf(person) })),
    project_visibility: visibilityName(record.visibility),
  })
  const moved = action === 'rename' || action === 'transfer'
  const built: Built[] = [
    {
      trigger: 'system',
      payload: {
        ...shown(({ email }) => email),
        owner_name: record.home.name,
        owner_email: record.home.email ?? '',
        ...(moved && { old_path_with_namespace: oldFullPath }),
      },
    },
  ]
  if (action === 'create' || action === 'destroy')
    built.push({ trigger: 'project', payload: shown(shownEmail) })
  return built
}

type GroupNews = RecordNews<
  'create' | 'destroy' | 'rename',
  GroupRow & { readonly parent: GroupRow | null }
> & {
  readonly old: { readonly path: string; readonly full_path: string } | null
}

/** Of a group that was made, renamed or deleted; the groups above hear of the first and the last. */
export const buildGroup: Builder<GroupNews> = async (_services, { payload }) => {
  const { action, record, old } = payload
  const { id, name, path, full_path, parent } = record
  const built: Built[] = [
    {
      trigger: 'system',
      payload: {
        event_name: `group_${action}`,
        ...times(record),
        name,
        path,
        full_path,
        group_id: id,
        ...(old !== null && { old_path: old.path, old_full_path: old.full_path }),
      },
    },
  ]
  if (parent !== null && action !== 'rename') {
    const shown = {
      event_name: `subgroup_${action}`,
      ...times(record),
      name,
      path,
      full_path,
      group_id: id,
      parent_group_id: parent.id,
      parent_name: parent.name,
      parent_path: parent.path,
      parent_full_path: parent.full_path,
    }
    built.push({ trigger: 'subgroup', payload: shown })
  }
  return built
}

interface MemberFacts {
  readonly user: Person
  readonly project: (GroupRow & { readonly visibility: number }) | null
  readonly group: GroupRow | null
  readonly access_level: number
  readonly expires_at: string | null
}

type MemberNews = RecordNews<'add' | 'update' | 'remove', MemberFacts>
type RequestNews = RecordNews<'request' | 'revoke', MemberFacts>

const namesOfMembers = { add: 'add_to', update: 'update_for', remove: 'remove_from' } as const

/** Of a member who came, whose role or last day was changed, or who went. */
export const buildMember: Builder<MemberNews> = async (_services, { payload: { action, record } }) => {
  const name = `user_${namesOfMembers[action]}`
  return [
    ...ofInstance(record, record.project === null ? `${name}_group` : `${name}_team`),
    ...ofGroup(record, `${name}_group`),
  ]
}

/** Of somebody who asked to come in, was denied or thought better of it. */
export const buildAccessRequest: Builder<RequestNews> = async (
  _services,
  { payload: { action, record } },
) => {
  const name = `user_access_request_${action === 'request' ? 'to' : 'revoked_for'}`
  return [
    ...ofInstance(record, `${name}_${record.project === null ? 'group' : 'project'}`),
    // Under the same name (part 2 completions, 1.13), which the reference's manual calls denied.
    ...ofGroup(record, `${name}_group`),
  ]
}

function ofInstance(record: MemberFacts & Dated, event_name: string): Built[] {
  const { user, project, group } = record
  const place =
    project === null
      ? group !== null && { ...shownPlace(group), group_access: roleName(record.access_level) }
      : {
          project_id: project.id,
          project_name: project.name,
          project_path: project.path,
          project_path_with_namespace: project.full_path,
          project_visibility: visibilityName(project.visibility),
          access_level: roleName(record.access_level),
        }
  const payload = {
    event_name,
    ...times(record),
    ...place,
    ...shownMember(user, user.email),
    expires_at: plainTime(record.expires_at),
  }
  return [{ trigger: 'system', payload }]
}

function ofGroup(record: MemberFacts & Dated, event_name: string): Built[] {
  const { user, group } = record
  if (group === null) return []
  const payload = {
    event_name,
    ...times(record),
    ...shownPlace(group),
    ...shownMember(user, shownEmail(user)),
    group_access: roleName(record.access_level),
    group_plan: null,
    expires_at: plainTime(record.expires_at),
  }
  return [{ trigger: 'member', payload }]
}

const shownPlace = ({ id, name, path }: GroupRow): object => ({
  group_id: id,
  group_name: name,
  group_path: path,
})

const shownMember = ({ id, name, username }: Person, email: string): object => ({
  user_id: id,
  user_name: name,
  user_username: username,
  user_email: email,
})

const shownAccount = (user: Person): object => ({
  ...times(user),
  name: user.name,
  email: user.email,
  user_id: user.id,
  username: user.username,
})

type UserNews = RecordNews<'create' | 'rename' | 'destroy', Person> & { readonly oldUsername: string | null }

/** Of an account that was made, got another username or was deleted. */
export const buildUser: Builder<UserNews> = async (_services, { payload }) => {
  const { action, record, oldUsername } = payload
  const shown = {
    event_name: `user_${action}`,
    ...shownAccount(record),
    ...(action === 'rename' && { old_username: oldUsername }),
  }
  return [{ trigger: 'system', payload: shown }]
}

/** Of somebody who is blocked and tried to sign in. */
export const buildFailedLogin: Builder<{ readonly state: string }> = async ({ db }, event) => {
  const { rows } = await sql<{ user: Person | null }>`
    select facts_of_user(u) as "user" from users u where u.id = ${event.userId}`.execute(db.reader)
  const user = rows[0]?.user
  if (user == null) return []
  const { state } = event.payload
  return [{ trigger: 'system', payload: { event_name: 'user_failed_login', ...shownAccount(user), state } }]
}

interface KeyNews {
  readonly action: 'create' | 'destroy'
  readonly record: {
    readonly id: number
    readonly key: string
    readonly username: string
    readonly created_at: string
  }
}

/** Of an SSH key that was added or removed; keys never change. */
export const buildSshKey: Builder<KeyNews> = async (_services, { payload: { action, record } }) => {
  const { id, key, username, created_at } = record
  const payload = {
    event_name: `key_${action}`,
    ...times({ created_at, updated_at: created_at }),
    username,
    key,
    id,
  }
  return [{ trigger: 'system', payload }]
}

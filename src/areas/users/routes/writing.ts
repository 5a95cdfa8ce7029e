import { endpoint, instance, privateHost, userOf } from '../../../access/index.ts'
import type { Tx } from '../../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  Id,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import { setAvatar, takeAvatar } from '../../avatars/index.ts'
import { renameNamespace } from '../../namespaces/index.ts'
import { admit, usualUser } from '../admit.ts'
import { createUser, whenTaken } from '../create.ts'
import { sendConfirmation } from '../email-confirmation.ts'
import { ownedEmails } from '../email-store.ts'
import { adminUserDetail, AdminUserDetail } from '../entities.ts'
import { identify } from '../identities.ts'
import { changedProfile, emptyAsNull, userOptions } from '../params.ts'
import { digestPassword } from '../password.ts'
import { sendPasswordLink } from '../password-links.ts'
import { removeUser } from '../remove.ts'
import type { UserServices } from '../services.ts'
import * as store from '../store.ts'

export function writingEndpoints(services: UserServices): Endpoint[] {
  const { db, settings, mail, externalUrl } = services
  const lastOne = { 403: 'It is the last administrator' }
  const shown = async (tx: Tx, id: number) =>
    adminUserDetail((await store.find(tx, id))!, externalUrl(), privateHost(services), services.plan)

  return [
    endpoint({
      method: 'POST',
      path: '/users',
      summary: 'Create a user',
      on: instance,
      may: 'admin_users',
      takeFile: takeAvatar,
      params: Fields({
        email: Text(),
        name: Text(),
        username: Text({ description: 'Also the path of the personal namespace' }),
        ...userOptions,
        skip_confirmation: Optional(Flag({ description: 'The address counts as confirmed' })),
      }),
      rules: { atLeastOneOf: [['password', 'reset_password', 'force_random_password']] },
      answers: AdminUserDetail,
      refuses: { 409: 'The username or address is taken' },
      async handle({ actor, params }) {
        const { values } = settings
        const linked = params.reset_password === true && params.force_random_password !== true
        // Without a way to send mail nobody could ever confirm. A link to choose a password does so, too.
        const unconfirmed =
          params.skip_confirmation !== true &&
          mail.enabled &&
          (linked || values.email_confirmation_setting !== 'off')
        const email = params.email.trim()
        const usual = usualUser(email, values)
        const state = {
          username: params.username.trim(),
          name: params.name.trim(),
          email,
          publicEmail: emptyAsNull(params.public_email, null),
          commitEmail: emptyAsNull(params.commit_email, null),
          projectsLimit: params.projects_limit ?? usual.projectsLimit,
          profile: changedProfile(usual.profile, params),
        }
        const password =
          params.force_random_password === true || params.reset_password === true
            ? undefined
            : params.password
        await admit(db.reader, state, values, { password })
        const passwordDigest = password === undefined ? undefined : await digestPassword(password)
        return db.transaction(async (tx) => {
          const { id } = await createUser(tx, {
            ...state,
            admin: params.admin ?? false,
            external: params.external ?? usual.external,
            privateProfile: params.private_profile ?? usual.privateProfile,
            canCreateGroup: params.can_create_group ?? usual.canCreateGroup,
            createdById: userOf(actor).id,
            note: emptyAsNull(params.note, null),
            unconfirmed,
            ...(passwordDigest !== undefined && { passwordDigest }),
          })
          await setAvatar(tx, 'user', id, params.avatar)
          await known(tx, id, params)
          const addressee = { ...state, id, password_digest: passwordDigest ?? null }
          if (linked) await sendPasswordLink(tx, services, addressee)
          else if (unconfirmed) await sendConfirmation(tx, services, addressee)
          return shown(tx, id)
        })
      },
    }),

    endpoint({
      method: 'PUT',
      path: '/users/:id',
      summary: 'Change a user',
      on: instance,
      may: 'admin_users',
      takeFile: takeAvatar,
      params: Fields({
        id: Id(),
        email: Optional(Text()),
        name: Optional(Text()),
        username: Optional(
          Text({ description: 'The old paths of the user’s projects keep leading to them' }),
        ),
        ...userOptions,
        skip_reconfirmation: Optional(
          Flag({ description: 'Addresses that an administrator gives count as confirmed' }),
        ),
      }),
      answers: AdminUserDetail,
      refuses: { ...lastOne, 404: 'No such user', 409: 'The username or address is taken' },
      async handle({ actor, params }) {
        const password = params.password === '' ? undefined : params.password
        return db.transaction(async (tx) => {
          const before = await store.lock(tx, params.id)
          if (before === undefined) throw notFound('User')
          const email = params.email?.trim() ?? before.email
          // Addresses that were the former one's follow it.
          const follow = (address: string | null) => (address === before.email ? email : address)
          const state = {
            username: params.username?.trim() ?? before.username,
            name: params.name?.trim() ?? before.name,
            email,
            publicEmail: emptyAsNull(params.public_email, follow(before.public_email)),
            commitEmail: emptyAsNull(params.commit_email, follow(before.commit_email)),
            projectsLimit: params.projects_limit ?? before.projects_limit,
            profile: changedProfile(before.profile, params),
            furtherEmails: await ownedEmails(tx, before.id),
          }
          const except = { userId: before.id, namespaceId: before.namespace_id }
          await admit(tx, state, settings.values, { password, except })
          await store.change(tx, before.id, {
            username: state.username,
            name: state.name,
            email,
            public_email: state.publicEmail,
            commit_email: state.commitEmail,
            admin: params.admin ?? before.admin,
            external: params.external ?? before.external,
            private_profile: params.private_profile ?? before.private_profile,
            can_create_group: params.can_create_group ?? before.can_create_group,
            projects_limit: state.projectsLimit,
            profile: state.profile,
            note: emptyAsNull(params.note, before.note),
            password_digest: password === undefined ? undefined : await digestPassword(password),
            password_expired: before.id !== userOf(actor).id,
          })
          if (before.admin && params.admin === false) await store.requireAdministrator(tx)
          if (password !== undefined) await store.endSessions(tx, before.id)
          if (before.namespace_id !== null) {
            if (state.name !== before.name) await store.nameNamespace(tx, before.namespace_id, state.name)
            if (state.username !== before.username) {
              await renameNamespace(tx, before.namespace_id, state.username).catch(whenTaken)
            }
          }
          await setAvatar(tx, 'user', before.id, params.avatar)
          await known(tx, before.id, params)
          return shown(tx, before.id)
        })
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/users/:id',
      summary: 'Delete a user',
      description:
        'The personal namespace and its projects go with the user. What the user did elsewhere is left to the user `ghost`; with `hard_delete` it goes too, and the groups that only the user owns.',
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id(), hard_delete: Optional(Flag()) }),
      answers: null,
      refuses: {
        ...whenChanged,
        ...lastOne,
        404: 'No such user',
        409: 'The user is the only owner of a group',
      },
      async handle({ params, request }) {
        await db.transaction(async (tx) => {
          const user = await store.lock(tx, params.id)
          if (user === undefined) throw notFound('User')
          requireUnmodified(request, user.updated_at)
          await removeUser(tx, user, services, { hard: params.hard_delete === true })
        })
      },
    }),
  ]
}

/** Keeps who the user is elsewhere, where both halves of that are given. */
async function known(
  tx: Tx,
  userId: number,
  { provider, extern_uid: uid }: { provider?: string | undefined; extern_uid?: string | undefined },
): Promise<void> {
  if (provider !== undefined && provider !== '' && uid !== undefined && uid.trim() !== '') {
    await identify(tx, userId, provider, uid)
  }
}

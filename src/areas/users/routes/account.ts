import { endpoint, instance, isAdministrator, privateHost, userOf } from '../../../access/index.ts'
import { Fields, Flag, Nullable, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { forbidden, refused } from '../../../kernel/errors/index.ts'
import { ownedEmails } from '../email-store.ts'
import { ownUser, OwnUser, profileFields } from '../entities.ts'
import { changedProfile, emptyAsNull } from '../params.ts'
import { matchesPassword } from '../password.ts'
import { removeUser } from '../remove.ts'
import * as rules from '../rules.ts'
import type { UserServices } from '../services.ts'
import * as store from '../store.ts'

const text = () => Optional(Nullable(Text()))
const about = Object.fromEntries(profileFields.map((field) => [field, text()])) as Record<
  (typeof profileFields)[number],
  ReturnType<typeof text>
>

/** What people do with their own account. */
export function accountEndpoints(services: UserServices): Endpoint[] {
  const { db, settings, externalUrl } = services
  return [
    endpoint({
      method: 'PUT',
      path: '/user',
      summary: 'Change what you tell of yourself',
      description:
        'With the setting `updating_name_disabled_for_users` another name is refused to all but administrators.',
      on: instance,
      may: 'read_instance',
      params: Fields({
        name: Optional(Text()),
        public_email: Optional(Nullable(Text({ description: 'An address of your own, or empty' }))),
        commit_email: Optional(
          Nullable(Text({ description: 'An address of your own, `_private`, or empty' })),
        ),
        private_profile: Optional(Flag()),
        preferred_language: Optional(Text({ description: 'As `en` or `pt_BR`' })),
        ...about,
      }),
      answers: OwnUser,
      refuses: { 400: 'A rule is broken', 403: 'Names are not changed here' },
      async handle({ actor, params }) {
        const { id } = userOf(actor)
        return db.transaction(async (tx) => {
          const before = (await store.lock(tx, id))!
          const state = {
            ...before,
            name: params.name?.trim() ?? before.name,
            publicEmail: emptyAsNull(params.public_email, before.public_email),
            commitEmail: emptyAsNull(params.commit_email, before.commit_email),
            projectsLimit: before.projects_limit,
            profile: changedProfile(before.profile, params),
            furtherEmails: await ownedEmails(tx, id),
          }
          const renamed = state.name !== before.name
          if (renamed && settings.values.updating_name_disabled_for_users && !isAdministrator(actor)) {
            throw forbidden()
          }
          rules.check(state, undefined, rules.passwordRules(settings.values))
          await store.change(tx, id, {
            username: before.username,
            name: state.name,
            email: before.email,
            public_email: state.publicEmail,
            commit_email: state.commitEmail,
            admin: before.admin,
            external: before.external,
            private_profile: params.private_profile ?? before.private_profile,
            can_create_group: before.can_create_group,
            projects_limit: before.projects_limit,
            profile: state.profile,
            note: before.note,
            password_digest: undefined,
            password_expired: false,
          })
          if (renamed && before.namespace_id !== null) {
            await store.nameNamespace(tx, before.namespace_id, state.name)
          }
          return ownUser((await store.find(tx, id))!, externalUrl(), privateHost(services))
        })
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/user',
      summary: 'Delete your own account',
      description:
        'What you did in projects of others is left to the user `ghost`. Who has a password shows it once more.',
      on: instance,
      may: 'read_instance',
      params: Fields({ password: Optional(Text({ description: 'The own password' })) }),
      answers: null,
      refuses: {
        400: 'The password is wrong',
        403: 'The setting `allow_account_deletion` is off',
        409: 'You are the only owner of a group',
      },
      async handle({ actor, params }) {
        if (!settings.values.allow_account_deletion) throw forbidden('Account deletion is not allowed.')
        const { id } = userOf(actor)
        const digest = await store.passwordOf(db.reader, id)
        if (digest !== null && !(await matchesPassword(params.password ?? '', digest))) {
          throw refused(400, 'Invalid password')
        }
        await db.transaction(async (tx) => removeUser(tx, (await store.lock(tx, id))!, services))
      },
    }),
  ]
}

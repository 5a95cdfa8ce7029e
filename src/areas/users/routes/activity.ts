import { endpoint, instance, isAdministrator, userOf } from '../../../access/index.ts'
import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Optional,
  Text,
  Timestamp,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, notFound } from '../../../kernel/errors/index.ts'
import type { UserServices } from '../services.ts'
import * as activity from '../activity-store.ts'
import * as store from '../store.ts'

const Preferences = Fields({
  id: Id(),
  user_id: Id(),
  view_diffs_file_by_file: Flag(),
  show_whitespace_in_diffs: Flag(),
  pass_user_identities_to_ci_jwt: Flag(),
})

/** What users have to do and have done, in numbers, and how they like what they see. */
export function activityEndpoints({ db }: UserServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/user_counts',
      summary: 'Count what waits for the caller',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      answers: Fields({
        merge_requests: Int(),
        assigned_issues: Int(),
        assigned_merge_requests: Int(),
        review_requested_merge_requests: Int(),
        todos: Int(),
      }),
      async handle({ actor }) {
        const counts = await activity.waiting(db.reader, actor)
        return { merge_requests: counts.assigned_merge_requests, ...counts }
      },
    }),

    endpoint({
      method: 'GET',
      path: '/users/:id/associations_count',
      summary: 'Count what belongs to a user',
      description: 'For the user himself and for administrators.',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      params: Fields({ id: Id() }),
      answers: Fields({
        groups_count: Int(),
        projects_count: Int(),
        issues_count: Int(),
        merge_requests_count: Int(),
      }),
      refuses: { 404: 'No such user' },
      async handle({ actor, params }) {
        if (!isAdministrator(actor) && userOf(actor).id !== params.id) throw forbidden()
        if (!(await store.exists(db.reader, params.id))) throw notFound('User')
        return activity.associations(db.reader, params.id)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/user/activities',
      summary: 'List when users were last active',
      on: instance,
      may: 'admin_users',
      paged: true,
      params: Fields({ from: Optional(DateOnly({ description: 'Half a year ago, when left out' })) }),
      answers: ListOf(
        Fields({ username: Text(), last_activity_on: DateOnly(), last_activity_at: Timestamp() }),
      ),
      read: ({ params, page }) => activity.lastActive(params.from, page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      method: 'GET',
      path: '/user/preferences',
      summary: 'Get the own preferences',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      answers: Preferences,
      handle: ({ actor }) => activity.preferences(db.reader, userOf(actor).id),
    }),

    endpoint({
      method: 'PUT',
      path: '/user/preferences',
      summary: 'Change the own preferences',
      on: instance,
      may: 'read_instance',
      params: Fields({
        view_diffs_file_by_file: Optional(Flag({ description: 'One file after another' })),
        show_whitespace_in_diffs: Optional(Flag()),
        pass_user_identities_to_ci_jwt: Optional(
          Flag({ description: 'Whether identity tokens of jobs tell the accounts elsewhere' }),
        ),
      }),
      rules: {
        atLeastOneOf: [
          ['view_diffs_file_by_file', 'show_whitespace_in_diffs', 'pass_user_identities_to_ci_jwt'],
        ],
      },
      answers: Preferences,
      async handle({ actor, params }) {
        const { id } = userOf(actor)
        return db.transaction(async (tx) => {
          await activity.prefer(tx, id, params)
          return activity.preferences(tx, id)
        })
      },
    }),
  ]
}

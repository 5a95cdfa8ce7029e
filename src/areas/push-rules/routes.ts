import { endpoint, group, project } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  Nullable,
  Optional,
  Text,
  Timestamp,
  type Endpoint,
  type Static,
} from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { faultsOf, longestPattern, type PushRule } from './rules.ts'
import * as store from './store.ts'

const pattern = (description: string) =>
  Optional(Nullable(Text({ maxLength: longestPattern, description: `${description} (RE2)` })))
const flag = (description: string) => Optional(Flag({ description }))

const params = Fields({
  commit_message_regex: pattern('What every commit message must match'),
  commit_message_negative_regex: pattern('What no commit message may match'),
  branch_name_regex: pattern('What every branch but the default one must match'),
  author_email_regex: pattern('What the addresses of authors and committers must match'),
  file_name_regex: pattern('What no path of a new file may match'),
  max_file_size: Optional(Int({ description: 'Megabytes; 0 for any size' })),
  deny_delete_tag: flag('Tags are not deleted by a push'),
  member_check: flag('Authors and committers are users of the instance'),
  prevent_secrets: flag('No new file is called as files with secrets usually are'),
  commit_committer_check: flag('Who pushes is the committer'),
  commit_committer_name_check: flag('The author is called as the account of who pushes'),
  reject_unsigned_commits: flag('Commits are signed'),
  reject_non_dco_commits: flag('Commit messages have a line `Signed-off-by:`'),
})

const ruleFields = {
  commit_message_regex: Text(),
  commit_message_negative_regex: Text(),
  branch_name_regex: Text(),
  deny_delete_tag: Flag(),
  created_at: Timestamp(),
  member_check: Flag(),
  prevent_secrets: Flag(),
  author_email_regex: Text(),
  file_name_regex: Text(),
  max_file_size: Int(),
  commit_committer_check: Flag(),
  commit_committer_name_check: Flag(),
  reject_unsigned_commits: Flag(),
  reject_non_dco_commits: Flag(),
}

const places = {
  project: {
    on: project,
    path: '/projects/:id/push_rule',
    called: 'a project',
    answers: Fields({ id: Id(), project_id: Id(), ...ruleFields }),
  },
  group: {
    on: group,
    path: '/groups/:id/push_rule',
    called: 'a group, which projects made in it begin with',
    answers: Fields({ id: Id(), ...ruleFields }),
  },
} as const

const record = 'Push Rule'
const faulty = { 400: 'A pattern is no RE2 pattern or too long' }

export function pushRuleEndpoints({ db }: { db: Database }): Endpoint[] {
  return [...endpointsOf(db, 'project'), ...endpointsOf(db, 'group')]
}

function endpointsOf(db: Database, place: store.Place): Endpoint[] {
  const { on, path, called, answers } = places[place]
  const common = {
    on,
    path,
    may: 'admin_push_rule',
    plan: planOf.push_rules,
    read: () => store.own(place),
  } as const
  const idOf = (call: object): number => (call as Record<store.Place, { readonly id: number }>)[place].id
  return [
    endpoint({
      ...common,
      method: 'GET',
      summary: `Get the push rule of ${called}`,
      ...(place === 'group' && { record }),
      // Clients of projects know by this that there is none yet.
      answers: place === 'group' ? answers : Nullable(answers),
      handle: async ({ rows }) => rows[0] ?? null,
    }),

    endpoint({
      ...common,
      method: 'POST',
      summary: `Make a push rule for ${called}`,
      params,
      answers,
      refuses: { ...faulty, 422: 'There is one' },
      handle: (call) => store.create(db.writer, place, idOf(call), valuesOf(call.params)),
    }),

    endpoint({
      ...common,
      method: 'PUT',
      summary: `Change the push rule of ${called}`,
      record,
      params,
      answers,
      refuses: faulty,
      async handle(call) {
        await store.change(db.writer, call.rows[0]!.id, valuesOf(call.params))
        return store.find(db.writer, place, idOf(call))
      },
    }),

    endpoint({
      ...common,
      method: 'DELETE',
      summary: `Remove the push rule of ${called}`,
      record,
      answers: null,
      handle: ({ rows }) => store.remove(db.writer, rows[0]!.id),
    }),
  ]
}

/** What was sent; null empties a pattern. */
function valuesOf(sent: Static<typeof params>): Partial<PushRule> {
  const chosen = Object.fromEntries(
    Object.keys(params.properties).flatMap((name) => {
      const value = sent[name as keyof typeof sent]
      return value === undefined ? [] : [[name, value ?? '']]
    }),
  ) as Partial<PushRule>
  const faults = faultsOf(chosen)
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return chosen
}

import { endpoint, entryFor, project as projectKind, userOf, type AccessEntry } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
  type Static,
} from '../../kernel/endpoint/index.ts'
import { unprocessable } from '../../kernel/errors/index.ts'
import { checkName, checkTargets, targetOf } from '../protected-branches/index.ts'
import { protectedTag, ProtectedTag } from './entities.ts'
import * as store from './store.ts'

const path = '/projects/:id/protected_tags'
const usualLevel = 40
const Level = OneOf(0, 30, 40, 60)
const Wanted = Fields({
  access_level: Optional(Level),
  user_id: Optional(Id()),
  group_id: Optional(Id()),
  deploy_key_id: Optional(Id()),
})

export function protectedTagEndpoints({ db, plan }: { db: Database; plan: Plan }): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the protected tags of a project',
      on: projectKind,
      may: 'admin_protected_tag',
      anonymous: true,
      paged: true,
      answers: ListOf(ProtectedTag),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows.map(protectedTag),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:name`,
      summary: 'Get a protected tag, or a wildcard by its own text',
      on: projectKind,
      may: 'admin_protected_tag',
      anonymous: true,
      checks: ['params', 'credentials', 'subject', 'may', 'record'],
      record: true,
      answers: ProtectedTag,
      read: ({ params }) => store.named(params.name),
      handle: async ({ rows }) => protectedTag(rows[0]!),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Protect a tag, or all tags of a wildcard',
      on: projectKind,
      may: 'change_protected_tag',
      params: Fields({
        name: Text({ blank: false, description: 'Tag or wildcard' }),
        create_access_level: Optional(Level),
        allowed_to_create: Optional(ListOf(Wanted)),
      }),
      answers: ProtectedTag,
      refuses: { 422: 'The name is protected already or too long, or an entry is not allowed' },
      async handle({ actor, project, params }) {
        checkName(params.name)
        const listed = !offers(plan, 'named_in_protections')
          ? []
          : (params.allowed_to_create ?? []).map(entryOf)
        const level = params.create_access_level ?? (listed.length === 0 ? usualLevel : undefined)
        const entries = level === undefined ? listed : [entryFor({ accessLevel: level }), ...listed]
        const callerId = userOf(actor).id
        return db.transaction(async (tx) => {
          const checked = await checkTargets(tx, { projectId: project.id, callerId }, entries, () => 'Create')
          await store.create(tx, project.id, params.name, checked)
          return protectedTag(await store.find(tx, project.id, params.name, callerId))
        })
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:name`,
      summary: 'Unprotect a tag or wildcard',
      on: projectKind,
      may: 'change_protected_tag',
      record: true,
      answers: null,
      refuses: whenChanged,
      read: ({ params }) => store.named(params.name),
      async handle({ rows, request }) {
        requireUnmodified(request, rows[0]!.updated_at)
        await store.remove(db.writer, rows[0]!.id)
      },
    }),
  ]
}

function entryOf(wanted: Static<typeof Wanted>): AccessEntry {
  const entry = targetOf(wanted)
  if (entry === undefined) throw unprocessable(["Create access levels access level can't be blank"])
  return entry
}

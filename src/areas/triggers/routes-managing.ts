import { endpoint, project, userOf, type Actor } from '../../access/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import {
  DateTime,
  Fields,
  Id,
  ListOf,
  Nullable,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { digestToken, newToken } from '../../kernel/lib/secrets.ts'
import { lifeOf } from '../tokens/index.ts'
import { hintOf, secretContext, tokenPrefix, Trigger, trigger, type TriggerRow } from './entities.ts'
import type { TriggerServices } from './index.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']

export function managingEndpoints({ db, cipher, externalUrl, settings, plan }: TriggerServices): Endpoint[] {
  const shown = (row: TriggerRow, actor: Actor) =>
    trigger(row, { reader: userOf(actor), cipher, externalUrl: externalUrl() })
  const one = {
    on: project,
    record: true,
    params: Fields({ trigger_id: Id() }),
    read: ({ params }: { params: { trigger_id: number } }) => store.one(params.trigger_id),
  } as const

  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/triggers',
      summary: 'List the trigger tokens of a project',
      on: project,
      may: 'read_trigger',
      checks,
      paged: true,
      answers: ListOf(Trigger),
      read: ({ page }) => store.list(page),
      handle: async ({ rows, actor }) => rows.map((row) => shown(row, actor)),
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: '/projects/:id/triggers/:trigger_id',
      summary: 'Get a trigger token of a project',
      may: 'read_trigger',
      checks,
      answers: Trigger,
      handle: async ({ rows, actor }) => shown(rows[0]!, actor),
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/triggers',
      summary: 'Create a trigger token',
      description: 'What it starts runs in the name of whoever made it, with his rights.',
      on: project,
      may: 'admin_trigger',
      checks,
      params: Fields({
        description: Text(),
        expires_at: Optional(
          Nullable(
            DateTime({ description: 'Within the longest life of tokens; never where it is left out' }),
          ),
        ),
      }),
      answers: Trigger,
      async handle({ actor, project, params }) {
        const expiresAt = params.expires_at ?? null
        rules.checkEnd(expiresAt, new Date(), lifeOf(settings.values, plan, 'human').longest)
        const token = newToken(tokenPrefix)
        const row = await store.create(db.writer, project.id, {
          ownerId: userOf(actor).id,
          description: params.description,
          secret: cipher.seal(token, secretContext),
          digest: digestToken(token),
          hint: hintOf(token),
          expiresAt,
        })
        return shown(row, actor)
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: '/projects/:id/triggers/:trigger_id',
      summary: 'Change the description of a trigger token',
      may: 'admin_trigger',
      checks: ['params', 'credentials', 'subject', 'record', 'may'],
      params: Fields({ trigger_id: Id(), description: Optional(Text()) }),
      answers: Trigger,
      refuses: { 403: 'It is the token of somebody else' },
      async handle({ actor, rows, params: { description } }) {
        const before = rows[0]!
        rules.checkOwner(actor, before)
        if (description === undefined || description === before.description) return shown(before, actor)
        const row = await store.describe(db.writer, before.id, description)
        if (row === undefined) {
          throw badRequest('Attempted to update the pipeline trigger token but failed')
        }
        return shown(row, actor)
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: '/projects/:id/triggers/:trigger_id',
      summary: 'Delete a trigger token',
      may: 'admin_trigger',
      checks,
      answers: null,
      refuses: whenChanged,
      async handle({ rows, request }) {
        const row = rows[0]!
        requireUnmodified(request, row.updated_at)
        await store.remove(db.writer, row.id)
      },
    }),
  ]
}

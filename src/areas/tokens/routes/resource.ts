import {
  endpoint,
  group,
  may,
  mayGrant,
  project,
  userOf,
  type Actor,
  type GroupSubject,
  type ProjectSubject,
} from '../../../access/index.ts'
import {
  Fields,
  Id,
  ListOf,
  OneOf,
  requireUnmodified,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { badRequest, notFound, refused, unauthorized, type ApiError } from '../../../kernel/errors/index.ts'
import { NewResourceToken, ResourceToken } from '../entities.ts'
import { newTokenParams, rotationParams, tokenFilters } from '../params.ts'
import { issueForResource } from '../resource.ts'
import * as resourceStore from '../resource-store.ts'
import type { Resource, ResourceTokenRow } from '../resource-store.ts'
import { rotate } from '../rotate.ts'
import { resourceScopes } from '../scopes.ts'
import type { TokenServices } from '../services.ts'
import * as store from '../store.ts'

type Subject = GroupSubject | ProjectSubject

/** Access tokens of projects and groups: each stands for a bot that is a member there. */
export function resourceEndpoints(kind: Resource['kind'], services: TokenServices): Endpoint[] {
  const { db } = services
  const on = kind === 'group' ? group : project
  const about = { on, may: kind === 'group' ? 'read_group' : 'read_project' } as const
  const path = `/${kind}s/:id/access_tokens`
  const token_id = Id({ description: 'The access token' })
  const missing = () => notFound(kind === 'group' ? 'Group Access Token' : 'Project Access Token')
  const refuses = { 401: 'No right to', 404: 'No such token' }
  const shown = <Row extends ResourceTokenRow>(row: Row, { id }: { id: number }) => ({
    ...row,
    resource_type: kind,
    resource_id: id,
  })
  const administers = (actor: Actor, subject: Subject): boolean =>
    subject.kind === 'group'
      ? may(actor, 'admin_access_token', subject)
      : may(actor, 'admin_access_token', subject)
  const require = (actor: Actor, subject: Subject, refusal: () => ApiError): void => {
    if (!administers(actor, subject)) throw refusal()
  }
  const rotated = async (subject: Subject, id: number, expiresAt: string | null | undefined) => {
    const made = await rotate(services, id, expiresAt)
    if (made === undefined) throw missing()
    const { bot_name: _, ...row } = (await resourceStore.find(db.reader, subject, made.id))!
    return shown({ ...row, token: made.token }, subject)
  }

  return [
    endpoint({
      ...about,
      method: 'GET',
      path,
      summary: `List the access tokens of a ${kind}`,
      paged: true,
      params: Fields(tokenFilters),
      answers: ListOf(ResourceToken),
      refuses: { 401: refuses[401] },
      read: ({ params, page }) => resourceStore.list(kind, params, page),
      async handle(call) {
        const subject = kind === 'group' ? call.group : call.project
        require(call.actor, subject, unauthorized)
        return call.rows.map((row) => shown(row, subject))
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path,
      summary: `Create an access token of a ${kind}`,
      description: 'With it a bot is made, which is a member with the level of the token.',
      params: Fields({
        ...newTokenParams,
        scopes: ListOf(OneOf(resourceScopes, {}), { commaSeparated: true }),
        access_level: OneOf([10, 15, 20, 30, 40, 50], { default: 40 }),
      }),
      answers: NewResourceToken,
      refuses: { 400: 'No right to, a level above the own one, or no end where one is asked for' },
      async handle(call) {
        const { actor, params } = call
        const subject = kind === 'group' ? call.group : call.project
        require(actor, subject, () =>
          badRequest(`User does not have permission to create ${kind} access token`))
        // A bot makes no further ones.
        if (userOf(actor).kind === 'project_bot') {
          throw badRequest(`User does not have permission to create ${kind} access token`)
        }
        if (!mayGrant(actor, subject, params.access_level)) {
          throw badRequest('Access level of the token contains permissions not held by the creating user')
        }
        const token = await issueForResource(services, subject, userOf(actor), params)
        const { bot_name: _, ...row } = (await resourceStore.find(db.reader, subject, token.id))!
        return shown({ ...row, token: token.secret }, subject)
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: `${path}/:token_id`,
      summary: `Get an access token of a ${kind}`,
      params: Fields({ token_id }),
      answers: ResourceToken,
      refuses,
      read: ({ params }) => resourceStore.one(kind, params.token_id),
      async handle(call) {
        const subject = kind === 'group' ? call.group : call.project
        require(call.actor, subject, unauthorized)
        if (call.rows[0] === undefined) throw missing()
        return shown(call.rows[0], subject)
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: `${path}/:token_id`,
      whileArchived: true,
      summary: `Revoke an access token of a ${kind}`,
      params: Fields({ token_id }),
      answers: null,
      refuses: {
        ...whenChanged,
        400: 'No right to, or revoked already',
        404: 'No such token',
      },
      async handle(call) {
        const { actor, params, request } = call
        const subject = kind === 'group' ? call.group : call.project
        const token = await resourceStore.find(db.reader, subject, params.token_id)
        if (!administers(actor, subject)) {
          throw refused(400, `${userOf(actor).name} cannot delete ${token?.bot_name ?? 'this token'}`)
        }
        if (token === undefined) throw missing()
        await db.transaction(async (tx) => {
          const locked = await store.lock(tx, token.id)
          if (locked?.revoked !== false) throw badRequest('Token already revoked')
          requireUnmodified(request, locked.created_at)
          await store.revoke(tx, locked.id)
        })
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: `${path}/self/rotate`,
      whileArchived: true,
      summary: `Replace the presented access token of a ${kind} by a new one`,
      scopes: ['self_rotate'],
      status: 200,
      params: Fields(rotationParams),
      answers: NewResourceToken,
      refuses: { 401: 'The presented token is none of this place', 400: 'Too late an end' },
      async handle(call) {
        const { actor, params } = call
        const subject = kind === 'group' ? call.group : call.project
        const own =
          actor.token?.id == null ? undefined : await resourceStore.find(db.reader, subject, actor.token.id)
        if (own === undefined) throw unauthorized()
        return rotated(subject, own.id, params.expires_at)
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: `${path}/:token_id/rotate`,
      whileArchived: true,
      summary: `Replace an access token of a ${kind} by a new one`,
      description: 'The old token is revoked.',
      status: 200,
      params: Fields({ token_id, ...rotationParams }),
      answers: NewResourceToken,
      refuses: { ...refuses, 400: 'Revoked already, or a level above the own one' },
      async handle(call) {
        const { actor, params } = call
        const subject = kind === 'group' ? call.group : call.project
        require(actor, subject, unauthorized)
        const token = await resourceStore.find(db.reader, subject, params.token_id)
        if (token === undefined) throw missing()
        if (!mayGrant(actor, subject, token.access_level ?? 0)) {
          throw badRequest('Not eligible to rotate token with access level higher than the user')
        }
        return rotated(subject, token.id, params.expires_at)
      },
    }),
  ]
}

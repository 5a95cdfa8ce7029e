import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { enter, instance, pageCredentials } from '../../access/index.ts'
import { ApiError, forbidden, notFound, unauthorized, unprocessable } from '../../kernel/errors/index.ts'
import { fieldsOf, jsonIn, readSmallBody } from '../../kernel/lib/small-body.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { visitorOf } from '../oauth/index.ts'
import { isOwnPage } from '../sessions/index.ts'
import { descriptor } from './descriptor.ts'
import { passOn, takeLifecycle, type LifecycleServices } from './lifecycle.ts'
import { linkGroup, requireAdministrator } from './linking.ts'
import * as store from './store.ts'
import { appPath, readTracker, type OfTracker } from './tokens.ts'

/** Bytes. */
const largest = 200_000
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** What trackers call, and what the app shows in them, below `/-/jira_connect`. */
export function mountTrackerApp(server: FastifyInstance, services: LifecycleServices): void {
  const { db, settings } = services

  const get = (path: string, name: string, handle: (request: FastifyRequest) => Promise<unknown>): void => {
    server.get(appPath + path, async (request, reply) => {
      nameRequest(name)
      return sendJson(reply, 200, await handle(request))
    })
  }

  get('/app_descriptor.json', 'descriptor of the tracker app', async () => descriptor(services))

  get('/oauth_application_id', 'application of the tracker app', async () => {
    const { tracker_connect_application_key: id } = settings.values
    if (!id) throw notFound()
    return { application_id: id }
  })

  server.get<{ Params: { id: string } }>(`${appPath}/public_keys/:id`, async (request, reply) => {
    nameRequest('public key of the tracker app')
    const { id } = request.params
    const stored = settings.values.tracker_connect_public_key_storage_enabled && uuid.test(id)
    const pem = stored ? await store.publicKey(db.reader, id) : undefined
    if (pem === undefined) throw notFound()
    return reply.header('content-type', 'text/plain').send(Buffer.from(pem))
  })

  for (const kind of ['installed', 'uninstalled'] as const) {
    server.post(`${appPath}/events/${kind}`, async (request, reply) => {
      nameRequest(`tracker app ${kind}`)
      const text = (await bodyOf(request)).toString('utf8')
      const about = { method: 'POST', path: `/events/${kind}`, query: queryOf(request) }
      const status = await takeLifecycle(services, kind, { token: tokenOf(request), about, text })
      return reply.code(status).send()
    })
  }

  get('/subscriptions', 'groups that a tracker is told of', async (request) => {
    const about = { method: 'GET', path: '/subscriptions', query: queryOf(request) }
    const tracker = await readTracker(services, tokenOf(request), about)
    if (tracker === undefined) throw unauthorized()
    const { installation } = tracker
    const found = await store.subscriptions(db.reader, installation.id)
    return {
      subscriptions: found.map(({ id, created_at, name, full_name, description }) => ({
        created_at,
        group: { name, full_name, description, avatar_url: null },
        unlink_path: `${appPath}/subscriptions/${id}`,
      })),
    }
  })

  server.post(`${appPath}/subscriptions`, async (request, reply) => {
    nameRequest('tell a tracker of a group')
    const { fields, tracker } = await ofTracker(request)
    // A page of somebody else must not link a group of who looks at it.
    const visitor = isOwnPage(request) ? await visitorOf(services, request) : undefined
    if (visitor === undefined) throw unauthorized()
    if (typeof visitor === 'string') throw forbidden(visitor)
    const credentials = pageCredentials(request.headers, settings.values)
    const { actor } = await enter(db, instance, credentials, { id: undefined, secretDigest: undefined })
    const path = fields['namespace_path']
    if (actor === undefined || typeof path !== 'string' || path.includes('\0')) throw notFound('Namespace')
    await linkGroup(services, actor, tracker, path)
    return sendJson(reply, 200, { success: true })
  })

  server.delete<{ Params: { id: string } }>(`${appPath}/subscriptions/:id`, async (request, reply) => {
    nameRequest('tell a tracker of a group no more')
    const { tracker } = await ofTracker(request)
    await requireAdministrator(services, tracker)
    const { id } = request.params
    const gone =
      /^\d{1,15}$/.test(id) &&
      (await db.transaction((tx) => store.unsubscribe(tx, tracker.installation.id, Number(id))))
    if (!gone) throw notFound('Subscription')
    return sendJson(reply, 200, { success: true })
  })

  server.put(`${appPath}/installations`, async (request, reply) => {
    nameRequest('choose the instance of a tracker')
    const { fields, tracker } = await ofTracker(request)
    await requireAdministrator(services, tracker)
    const chosen = fieldsOf(fields['installation'])['instance_url']
    const url = chosen === null || chosen === '' ? null : URL.parse(typeof chosen === 'string' ? chosen : '-')
    if (url !== null && !/^https?:$/.test(url.protocol))
      throw unprocessable('The address of the instance is invalid')
    if (url === null && chosen !== null && chosen !== '')
      throw unprocessable('The address of the instance is invalid')
    const { installation } = tracker
    const instanceUrl = url === null ? null : url.origin + url.pathname.replace(/\/+$/, '')
    if (!(await passOn(services, { ...installation, instance_url: instanceUrl }, 'installed')))
      throw unprocessable('The instance did not take the installation')
    await db.transaction((tx) => store.passOnTo(tx, installation.id, instanceUrl))
    return sendJson(reply, 200, { success: true })
  })

  /** The fields that were sent, and the tracker whose user sent them. */
  async function ofTracker(
    request: FastifyRequest,
  ): Promise<{ fields: Readonly<Record<string, unknown>>; tracker: OfTracker }> {
    const fields = fieldsOf(jsonIn((await bodyOf(request)).toString('utf8')))
    const { jwt } = fields
    const tracker = await readTracker(services, typeof jwt === 'string' ? jwt : tokenOf(request))
    if (tracker === undefined) throw unauthorized()
    return { fields, tracker }
  }
}

async function bodyOf(request: FastifyRequest): Promise<Buffer> {
  const body = await readSmallBody(request.raw, largest)
  if (body === undefined) throw new ApiError(413, { message: '413 Request Entity Too Large' })
  return body
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(url.split('?', 2)[1] ?? '')
}

/** In the header, or in the address. */
function tokenOf(request: FastifyRequest): string {
  const [, token] = /^JWT +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  return token ?? queryOf(request).get('jwt') ?? ''
}

function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
    .send(Buffer.from(JSON.stringify(body)))
}

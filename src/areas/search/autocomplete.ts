import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SharedCounts } from '../../kernel/db/index.ts'
import { Answer, send, type InnerApi } from '../../kernel/endpoint/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'

export interface AutocompleteServices {
  readonly api: InnerApi
  readonly counts: SharedCounts
  readonly settings: Settings
}

interface Asked {
  readonly search?: unknown
  readonly project_id?: unknown
  readonly group_id?: unknown
}

interface Person {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly avatar_url: string | null
}

/** Seconds. */
const period = 60
const most = 20
const refusal = 'This endpoint has been requested too many times. Try again later.'

/** People for fields that complete names while somebody types: a page of its own, which is asked for often. */
export function mountAutocomplete(server: FastifyInstance, services: AutocompleteServices): void {
  const answer = async (request: FastifyRequest): Promise<Answer> => {
    const context = requestContext()
    if (context !== undefined) context.endpoint = 'autocomplete'
    const own = await services.api.call(request, 'GET', '/user')
    const caller = own.status === 200 ? (own.body as Person).id : undefined
    if (isTooMuch(services, caller, request.ip)) {
      return new Answer(429, { 'content-type': 'text/plain', 'retry-after': String(period) }, refusal)
    }
    const path = pathOf(request.query as Asked, caller !== undefined)
    const found = path === undefined ? undefined : await services.api.call(request, 'GET', path)
    const people = found?.status === 200 ? (found.body as readonly Person[]) : []
    const shown = people.map(({ id, username, name, avatar_url }) => ({ id, username, name, avatar_url }))
    return new Answer(200, { 'content-type': 'application/json' }, JSON.stringify(shown))
  }
  for (const path of ['/-/autocomplete/users', '/autocomplete/users'])
    server.get(path, async (request, reply) => send(reply, await answer(request)))
}

function isTooMuch(
  { counts, settings: { values } }: AutocompleteServices,
  caller: number | undefined,
  address: string,
): boolean {
  const name = caller === undefined ? 'autocomplete_users_unauthenticated' : 'autocomplete_users'
  const limit = values[name]
  return limit > 0 && counts.add(name, caller ?? address, period).count > limit
}

/** The list of the API that is asked, as the caller. Who is not signed in is told of members of projects only. */
function pathOf(
  { search, project_id: project, group_id: group }: Asked,
  signedIn: boolean,
): string | undefined {
  const text = typeof search === 'string' ? search.slice(0, 255) : ''
  const place = (id: unknown): string | undefined =>
    typeof id === 'string' && id !== '' ? encodeURIComponent(id) : undefined
  const query = (name: string, more: Readonly<Record<string, string>> = {}): string =>
    new URLSearchParams({ per_page: String(most), ...(text !== '' && { [name]: text }), ...more }).toString()
  const [ofProject, ofGroup] = [place(project), place(group)]
  if (ofProject !== undefined) return `/projects/${ofProject}/users?${query('search')}`
  if (!signedIn) return undefined
  if (ofGroup !== undefined) return `/groups/${ofGroup}/members/all?${query('query')}`
  return `/users?${query('search', { active: 'true' })}`
}

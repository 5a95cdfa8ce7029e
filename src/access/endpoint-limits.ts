import type { SharedCounts } from '../kernel/db/index.ts'
import type { Endpoint } from '../kernel/endpoint/endpoint.ts'
import { tooManyRequests } from '../kernel/errors/index.ts'
import { entriesOf, type SettingName, type Settings, type SettingValues } from '../settings/index.ts'
import type { User } from './actor.ts'

type NumberSetting = {
  [Name in SettingName]: SettingValues[Name] extends number ? Name : never
}[SettingName]

interface EndpointLimit {
  /** The setting that says how many, or a limit that nobody can set. */
  readonly limit: NumberSetting | { readonly name: string; readonly most: number }
  /** Who is counted; somebody else is not limited by it. */
  readonly by: 'user or address' | 'user' | 'address'
  /** Seconds. */
  readonly period: 60 | 600
  /** Counted for each project or group by itself. */
  readonly perSubject?: true
  readonly exceptAdministrators?: true
  /** Names of users who are not limited. */
  readonly except?: 'users_get_by_id_limit_allowlist_raw' | 'search_rate_limit_allowlist_raw'
  /** The refusal does not say when to come again. */
  readonly silent?: true
}

const everybody = (limit: NumberSetting): EndpointLimit => ({ limit, by: 'user or address', period: 60 })
const users = (limit: EndpointLimit['limit']): EndpointLimit => ({ limit, by: 'user', period: 60 })
const follows = (limit: NumberSetting): EndpointLimit => ({
  ...everybody(limit),
  exceptAdministrators: true,
})
const searches: readonly EndpointLimit[] = [
  { ...users('search_rate_limit'), except: 'search_rate_limit_allowlist_raw' },
  { limit: 'search_rate_limit_unauthenticated', by: 'address', period: 60 },
]

/** The limits of single endpoints (completions of part 3, section 7; supporting resources, 1.7): the one list of them. */
const limits: Readonly<Record<string, readonly EndpointLimit[]>> = {
  'GET /users/:id/followers': [follows('users_api_limit_followers')],
  'GET /users/:id/following': [follows('users_api_limit_following')],
  'GET /users/:id/status': [everybody('users_api_limit_status')],
  'GET /users/:id/keys': [everybody('users_api_limit_ssh_keys')],
  'GET /users/:id/keys/:key_id': [everybody('users_api_limit_ssh_key')],
  'GET /users/:id/gpg_keys': [everybody('users_api_limit_gpg_keys')],
  'GET /users/:id/gpg_keys/:key_id': [everybody('users_api_limit_gpg_key')],
  'GET /users/:id': [
    {
      limit: 'users_get_by_id_limit',
      by: 'user',
      period: 600,
      exceptAdministrators: true,
      except: 'users_get_by_id_limit_allowlist_raw',
    },
  ],
  'GET /users/:id/projects': [everybody('user_projects_api_limit')],
  'GET /users/:id/contributed_projects': [everybody('user_contributed_projects_api_limit')],
  'GET /users/:id/starred_projects': [everybody('user_starred_projects_api_limit')],
  'GET /projects': [
    { limit: 'projects_api_rate_limit_unauthenticated', by: 'address', period: 600 },
    { limit: 'projects_api_limit', by: 'user', period: 600 },
  ],
  'GET /projects/:id': [everybody('project_api_limit')],
  'GET /projects/:id/invited_groups': [everybody('project_invited_groups_api_limit')],
  'GET /projects/:id/jobs': [users('project_jobs_api_rate_limit')],
  'GET /groups': [everybody('groups_api_limit')],
  'GET /groups/:id': [everybody('group_api_limit')],
  'GET /groups/:id/projects': [everybody('group_projects_api_limit')],
  'GET /groups/:id/groups/shared': [everybody('group_shared_groups_api_limit')],
  'GET /groups/:id/invited_groups': [everybody('group_invited_groups_api_limit')],
  'DELETE /projects/:id/members/:user_id': [{ ...users('members_delete_limit'), perSubject: true }],
  'DELETE /groups/:id/members/:user_id': [{ ...users('members_delete_limit'), perSubject: true }],
  'POST /projects/:id/issues': [{ ...users('issues_create_limit'), perSubject: true, silent: true }],
  'POST /groups/:id/epics': [{ ...users('issues_create_limit'), perSubject: true, silent: true }],
  'GET /namespaces/:id/exists': [users({ name: 'namespace_exists', most: 20 })],
  'POST /projects/import': [users('project_import_limit')],
  'POST /projects/remote-import': [users('project_import_limit')],
  'POST /projects/:id/export': [users('project_export_limit')],
  'GET /projects/:id/export/download': [{ ...users('project_download_export_limit'), perSubject: true }],
  'POST /groups/import': [users('group_import_limit')],
  'POST /groups/:id/export': [users('group_export_limit')],
  'GET /groups/:id/export/download': [{ ...users('group_download_export_limit'), perSubject: true }],
  'GET /search': searches,
  'GET /projects/:id/search': searches,
  'GET /groups/:id/search': searches,
}

function shapeOf(method: string, path: string): string {
  return `${method} ${path.replaceAll(/:\w+/g, ':')}`
}

const byShape = new Map(
  Object.entries(limits).map(([name, rules]) => {
    const [method, path] = name.split(' ') as [string, string]
    return [shapeOf(method, path), rules]
  }),
)

export interface LimitedCall {
  readonly endpoint: Endpoint
  readonly user: User | null
  readonly address: string
  /** Of the project or group, as soon as that is known. */
  readonly subject?: number
}

/** Refuses calls of single endpoints that come too often. */
export class EndpointLimits {
  readonly #settings: Pick<Settings, 'values'>
  readonly #counts: SharedCounts
  readonly #rules = new WeakMap<Endpoint, readonly EndpointLimit[]>()

  constructor(settings: Pick<Settings, 'values'>, counts: SharedCounts) {
    this.#settings = settings
    this.#counts = counts
  }

  /** Before the subject is looked at: what is missing counts too. */
  before(call: LimitedCall): void {
    for (const rule of this.#of(call.endpoint)) if (rule.perSubject !== true) this.#use(rule, call)
  }

  /** Once the subject is known. */
  within(call: LimitedCall): void {
    for (const rule of this.#of(call.endpoint)) if (rule.perSubject === true) this.#use(rule, call)
  }

  #of(endpoint: Endpoint): readonly EndpointLimit[] {
    const known = this.#rules.get(endpoint)
    if (known !== undefined) return known
    const rules = byShape.get(shapeOf(endpoint.method, endpoint.path)) ?? []
    this.#rules.set(endpoint, rules)
    return rules
  }

  #use(rule: EndpointLimit, { user, address, subject }: LimitedCall): void {
    const { values } = this.#settings
    const { name, most } =
      typeof rule.limit === 'string' ? { name: rule.limit, most: values[rule.limit] } : rule.limit
    if (most === 0) return
    if (user === null ? rule.by === 'user' : rule.by === 'address') return
    if (user !== null) {
      if (rule.exceptAdministrators === true && user.admin) return
      if (rule.except !== undefined && entriesOf(values[rule.except]).includes(user.username)) return
    }
    const caller = user === null ? address : user.id
    const key = rule.perSubject === true ? `${caller} ${subject ?? ''}` : caller
    if (this.#counts.add(name, key, rule.period).count > most) {
      throw tooManyRequests(rule.silent === true ? undefined : rule.period)
    }
  }
}

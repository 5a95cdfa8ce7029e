import { tokenScopes } from '../tokens/index.ts'

/** What an application can ask for: what tokens may do, and what OpenID Connect tells of people. */
export const oauthScopes: readonly string[] = [...tokenScopes, 'openid', 'profile', 'email']

/** With these an application can do what its user can, so administrators may be kept from granting them. */
const wide: ReadonlySet<string> = new Set([
  'api',
  'read_api',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'sudo',
  'admin_mode',
])

export function areWide(scopes: readonly string[]): boolean {
  return scopes.some((scope) => wide.has(scope))
}

/** What each one allows, as people read it before they say yes. */
const meanings: Readonly<Record<string, string>> = {
  api: 'Do everything that you can do',
  read_api: 'Read everything that you can read',
  read_user: 'Read your profile',
  create_runner: 'Create runners',
  manage_runner: 'Manage runners',
  k8s_proxy: 'Reach clusters through agents',
  self_rotate: 'Replace its own token',
  read_repository: 'Read repositories',
  write_repository: 'Read and write repositories',
  read_registry: 'Pull images',
  write_registry: 'Push images',
  read_virtual_registry: 'Pull through virtual registries',
  write_virtual_registry: 'Write to virtual registries',
  ai_features: 'Use features of assistants',
  ai_workflows: 'Let assistants work for you',
  mcp: 'Use tools for assistants',
  sudo: 'Act as anybody, if you are an administrator',
  admin_mode: 'Act as an administrator, if you are one',
  read_service_ping: 'Read what the service tells of its use',
  openid: 'Know who you are',
  profile: 'Know your name and picture',
  email: 'Know your e-mail address',
}

export function meaningOf(scope: string): string {
  return meanings[scope] ?? scope
}

/** The scopes in a text, as OAuth writes them: with blanks between. */
export function scopesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((scope) => scope !== ''))]
}

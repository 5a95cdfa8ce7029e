/** Scopes that a personal access token can have; the last three are for administrators. */
export const tokenScopes = [
  'api',
  'read_api',
  'read_user',
  'create_runner',
  'manage_runner',
  'k8s_proxy',
  'self_rotate',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'read_virtual_registry',
  'write_virtual_registry',
  'ai_features',
  'ai_workflows',
  'mcp',
  'sudo',
  'admin_mode',
  'read_service_ping',
] as const

export type TokenScope = (typeof tokenScopes)[number]
export const administratorScopes: readonly TokenScope[] = ['sudo', 'admin_mode', 'read_service_ping']
/** Those of the tokens of projects and groups. */
export const resourceScopes = tokenScopes.filter(
  (scope) => scope !== 'read_user' && !administratorScopes.includes(scope),
)
/** What people may make tokens with for themselves through the API. */
export const selfIssuedScopes = ['k8s_proxy', 'self_rotate'] as const satisfies readonly TokenScope[]

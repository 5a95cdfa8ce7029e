import type { CompiledJob, Variable } from '../../ci/index.ts'
import type { Unfit } from './hand-out-rules.ts'

/** Where secrets of jobs are kept, and the variables that say so (completions, 3.13). */
const providers: Readonly<Record<string, readonly string[]>> = {
  vault: ['VAULT_SERVER_URL'],
  gcp_secret_manager: [
    'GCP_PROJECT_NUMBER',
    'GCP_WORKLOAD_IDENTITY_FEDERATION_POOL_ID',
    'GCP_WORKLOAD_IDENTITY_FEDERATION_PROVIDER_ID',
  ],
  azure_key_vault: ['AZURE_KEY_VAULT_SERVER_URL', 'AZURE_CLIENT_ID', 'AZURE_TENANT_ID'],
}

type Secret = Readonly<Record<string, unknown>>

/**
 * A job's secrets as they are given to a runner that fetches them. Where nobody keeps them, or the runner would run the
 * job without them, it cannot run.
 */
export function secretsFor(
  { secrets, idTokens }: Pick<CompiledJob, 'secrets' | 'idTokens'>,
  variables: readonly Variable[],
  features: ReadonlySet<string>,
): { given: Record<string, Secret> } | Unfit {
  const known = new Map(variables.map(({ key, value }) => [key, value]))
  const variable = (key: string) => known.get(key)
  const [firstToken] = Object.keys(idTokens)
  const given: Record<string, Secret> = {}
  const missing: string[] = []
  for (const [name, secret] of Object.entries(secrets) as [string, Secret][]) {
    const provider = Object.keys(providers).find((key) => key in secret)
    if (provider === undefined || !providers[provider]!.every(variable)) {
      missing.push(name)
      continue
    }
    const { token, ...kept } = secret
    // The runner puts in what the variable holds.
    const jwt = token ?? (firstToken === undefined ? undefined : `$${firstToken}`)
    given[name] = {
      ...kept,
      [provider]: { ...placeOf(secret[provider]), server: serverOf(provider, jwt, variable) },
    }
  }
  if (missing.length > 0) {
    const because = `no variables say where these secrets are kept: ${missing.sort().join(', ')}`
    return { reason: 'secrets_provider_not_found', because }
  }
  if (Object.keys(given).length > 0 && !features.has('vault_secrets')) {
    return { reason: 'runner_unsupported', because: 'the runner that took it fetches no secrets' }
  }
  return { given }
}

/** In short: `path/field@engine`. */
function placeOf(written: unknown): object {
  if (typeof written !== 'string') return written as object
  const [place, engine = 'kv-v2'] = written.split(/@(.*)/s)
  const path = place!.split('/')
  const field = path.pop()
  return { engine: { name: 'kv-v2', path: engine }, path: path.join('/'), field }
}

function serverOf(provider: string, jwt: unknown, variable: (key: string) => string | undefined): object {
  if (provider === 'vault') {
    const data = { jwt, role: variable('VAULT_AUTH_ROLE') }
    return {
      url: variable('VAULT_SERVER_URL'),
      namespace: variable('VAULT_NAMESPACE'),
      auth: { name: 'jwt', path: variable('VAULT_AUTH_PATH') ?? 'jwt', data },
    }
  }
  if (provider === 'azure_key_vault') {
    return {
      url: variable('AZURE_KEY_VAULT_SERVER_URL'),
      client_id: variable('AZURE_CLIENT_ID'),
      tenant_id: variable('AZURE_TENANT_ID'),
      jwt,
    }
  }
  return {
    project_number: variable('GCP_PROJECT_NUMBER'),
    workload_identity_federation_pool_id: variable('GCP_WORKLOAD_IDENTITY_FEDERATION_POOL_ID'),
    workload_identity_federation_provider_id: variable('GCP_WORKLOAD_IDENTITY_FEDERATION_PROVIDER_ID'),
    jwt,
  }
}

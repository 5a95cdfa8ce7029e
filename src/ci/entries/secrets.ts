import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import {
  attribute,
  boolean,
  entry,
  mapOf,
  readFields,
  requireKeys,
  string,
  text,
  type Fields,
} from './read.ts'
import type { Read, Spot } from './spot.ts'

const vaultFields = {
  engine: entry(
    mapOf({ name: attribute(string), path: attribute(string) }, (value, spot) =>
      requireKeys(value, ['name', 'path'], spot),
    ),
  ),
  path: attribute(string),
  field: attribute(string),
}
const awsFields = {
  secret_id: attribute(string),
  version_id: attribute(text),
  version_stage: attribute(string),
  region: attribute(string),
  role_arn: attribute(string),
  role_session_name: attribute(string),
  field: attribute(string),
}
const akeylessFields = Object.fromEntries(
  [
    ...['name', 'data_key', 'cert_user_name', 'public_key_data', 'csr_data', 'akeyless_access_type'],
    ...['akeyless_token', 'uid_token', 'gateway_ca_certificate', 'k8s_auth_config_name'],
    ...['k8s_service_account_token', 'azure_object_id', 'gcp_audience', 'akeyless_api_url', 'access_key'],
  ].map((key) => [key, attribute(text)]),
)

/** Where secrets can come from, and what has to be said about each. */
const providers: Record<string, Read<unknown>> = {
  vault: provider(vaultFields, ['engine', 'path', 'field'], { orText: true }),
  gcp_secret_manager: provider({ name: attribute(string), version: attribute(text) }, ['name']),
  azure_key_vault: provider({ name: attribute(string), version: attribute(text) }, ['name']),
  aws_secrets_manager: provider(awsFields, ['secret_id'], { orText: true }),
  akeyless: provider(akeylessFields, []),
}
const names = Object.keys(providers)
const fields: Fields = {
  ...Object.fromEntries(names.map((name) => [name, entry(providers[name]!)])),
  file: attribute(boolean),
  token: attribute(string),
}

/** Kept as given: the runner reads them in the file's own spelling. */
export const secrets: Read<Record<string, unknown>> = (value, spot) => {
  if (!isMap(value)) return spot.fail(entryText.hash)
  for (const [name, secret] of Object.entries(value)) {
    const at = spot.child(name)
    if (isMap(secret)) readFields(fields, secret, at, oneProvider)
    else at.fail(entryText.hash)
  }
  return value
}

function oneProvider(secret: DataMap, spot: Spot): void {
  if (names.filter((name) => name in secret).length !== 1) spot.fail(entryText.exactlyOne(names))
}

function provider(table: Fields, required: string[], { orText = false } = {}): Read<unknown> {
  return (value, spot) => {
    if (orText && typeof value === 'string') return value === '' ? spot.fail(entryText.blank) : value
    if (!isMap(value)) return spot.fail(orText ? entryText.hashOrString : entryText.hash)
    return readFields(table, value, spot, (given, at) => requireKeys(given, required, at))
  }
}

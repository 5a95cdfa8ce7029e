import type { Credentials } from './hosts.ts'
import { credentialsContext, type HostImportRoom } from './services.ts'
import type { Step } from './step-store.ts'

export function credentialsOf(
  { cipher }: Pick<HostImportRoom, 'cipher'>,
  { credentials }: Step,
): Credentials {
  return JSON.parse(cipher.open(credentials, credentialsContext)) as Credentials
}

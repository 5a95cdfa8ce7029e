import { GitRefusal, projectMissing } from '../git-http/index.ts'
import { sealGrant, tokenLife } from '../git-lfs/index.ts'
import type { Admitted } from './admission.ts'
import type { LfsCommand } from './command.ts'
import type { SshServices } from './index.ts'
import type { KnownKey } from './store.ts'

/** Where large files are, and a login for them, as the client of large files reads it. */
export function lfsLogin(
  { cipher, externalUrl }: SshServices,
  key: KnownKey,
  { operation }: LfsCommand,
  { target }: Admitted,
): string {
  const { project } = target
  if (project === undefined) throw new GitRefusal(404, projectMissing)
  const token = sealGrant(cipher, {
    userId: key.user_id,
    deployKeyId: key.user_id === null ? key.id : null,
    projectId: project.id,
    operation,
  })
  const login = `${key.username ?? `lfs+deploy-key-${key.id}`}:${token}`
  return JSON.stringify({
    header: { Authorization: `Basic ${Buffer.from(login).toString('base64')}` },
    href: `${externalUrl()}/${project.fullPath}.git/info/lfs`,
    expires_in: tokenLife,
  })
}

import { chmod, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { newSshKey } from '../world/ssh-key.ts'
import type { World } from '../world/world.ts'
import type { Copies } from './copies.ts'

/** A key that is known to the service, and how `ssh` is called with it: for `GIT_SSH_COMMAND`. */
export async function sshLogin(
  world: World,
  copies: Copies,
  add: (publicKey: string) => Promise<unknown>,
): Promise<string> {
  const { publicKey, privateKey } = newSshKey()
  const file = path.join(copies.folder, world.unique('key'))
  await writeFile(file, privateKey)
  await chmod(file, 0o600)
  await add(publicKey)
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'IdentitiesOnly=yes',
    'LogLevel=ERROR',
  ]
  return `ssh -F /dev/null -i ${file} ${options.map((one) => `-o ${one}`).join(' ')}`
}

/** Where a project is reached over SSH. */
export function sshAddress({ service }: World, fullPath: string): string {
  return `ssh://git@127.0.0.1:${service.sshPort!}/${fullPath}.git`
}

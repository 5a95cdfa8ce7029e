import { findDeployToken, findReached, imageProject, letsMachinesIn, type Login } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { MachineLogin, Power } from '../oci/index.ts'

const powers: Readonly<Record<string, Power>> = { read_registry: 'pull', write_registry: 'push' }

/** Signs a deploy token in to the registry of images. */
export function deployTokenLogin({
  db,
  settings,
}: {
  readonly db: Database
  readonly settings: Settings
}): (login: Login) => Promise<MachineLogin | undefined> {
  return async (login) => {
    if (!letsMachinesIn(settings.values)) return undefined
    const token = await findDeployToken(db, login)
    return (
      token && {
        id: token.id,
        name: token.username,
        authType: 'deploy_token',
        powers: new Set(token.scopes.flatMap((scope) => powers[scope] ?? [])),
        projectOf: (image) => findReached(db.reader, imageProject, token, image),
      }
    )
  }
}

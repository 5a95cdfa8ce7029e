import {
  anonymous,
  enterByAnyLogin,
  letsMachinesIn,
  entryProblem,
  instance,
  isTokenUsable,
  noteTokenUse,
  type Actor,
  type InstanceSubject,
  type Login,
  type Passwords,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { denied, RegistryError } from './errors.ts'
import type { Holder, MachineLogin, Power } from './grant.ts'

export interface SignInServices {
  readonly db: Database
  readonly log: Logger
  readonly externalUrl: () => string
  readonly settings: Pick<Settings, 'values'>
  readonly passwords: Passwords
  /** Credentials that stand for no user, asked for where no user's fits. */
  readonly machineLogin?: (login: Login) => Promise<MachineLogin | undefined>
}

const all: readonly Power[] = ['pull', 'push', 'delete']

/** What the scopes of a token let it do here (completions, 1.10). */
const powersOfScopes: Readonly<Record<string, readonly Power[]>> = {
  api: all,
  read_api: ['pull'],
  read_registry: ['pull'],
  write_registry: ['push'],
}

/** Finds out who asks for a token; throws the refusal. */
export async function signIn(
  services: SignInServices,
  login: Login | 'unreadable' | undefined,
): Promise<Holder> {
  if (login === undefined) return { kind: 'actor', actor: anonymous, powers: new Set(['pull']) }
  if (login === 'unreadable') throw wrongCredentials(services)
  const machine = await services.machineLogin?.(login)
  if (machine !== undefined) {
    if (machine.powers.size === 0) throw denied('access forbidden')
    return { kind: 'machine', machine }
  }
  const entrance = await enterByAnyLogin<InstanceSubject>(
    services.db,
    instance,
    login,
    { id: undefined, secretDigest: undefined },
    services.passwords,
    letsMachinesIn(services.settings.values),
  )
  const { actor, token } = entrance
  if (actor === undefined || (token !== undefined && !isTokenUsable(token))) {
    throw wrongCredentials(services)
  }
  if (token !== undefined) noteTokenUse(services, token)
  const house = { values: services.settings.values, externalUrl: services.externalUrl() }
  if (actor.user !== null && entryProblem(actor.user, house) !== undefined) throw denied('access forbidden')
  const powers = powersOf(actor)
  if (powers.size === 0) throw denied('access forbidden')
  return { kind: 'actor', actor, powers }
}

/** A password and the token of a job do all that their user may. */
function powersOf({ token }: Actor): Set<Power> {
  return new Set(token === null ? all : token.scopes.flatMap((scope) => powersOfScopes[scope] ?? []))
}

function wrongCredentials({ externalUrl }: SignInServices): RegistryError {
  return new RegistryError(
    401,
    'UNAUTHORIZED',
    'HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or ' +
      "you're required to use a token instead of a password. If a token was provided, it was either incorrect, " +
      `expired, or improperly scoped. See ${externalUrl()}/-/api`,
  )
}

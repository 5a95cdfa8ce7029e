import type { Statements } from '../kernel/db/index.ts'
import type { Login } from './caller.ts'
import { jobLogin } from './credentials.ts'
import { enterById, enterByLogin, type Entrance, type PasswordProof } from './enter.ts'
import type { AnyKind, Lookup } from './subjects.ts'

/** What knows passwords: the digests that we keep, and the directories that keep their own. */
export interface Passwords {
  readonly matches: PasswordProof
  /** Id of the account of a name and a password that somebody else knows. */
  readonly authenticate: (username: string, password: string) => Promise<number | undefined>
}

/** A token of ours is shown to no directory. */
const ours = /^gl[a-z]{1,6}-/

/** As `enterByLogin`; when that knows nobody by this name and password, the directories are asked. */
export async function enterByAnyLogin<Subject>(
  db: Statements,
  kind: AnyKind,
  login: Login,
  lookup: Lookup,
  { matches, authenticate }: Passwords,
  deployTokens: boolean,
): Promise<Entrance<Subject, never>> {
  const entrance = await enterByLogin<Subject>(db, kind, login, lookup, matches, deployTokens)
  if (entrance.actor !== undefined || login.username === jobLogin || ours.test(login.password))
    return entrance
  const userId = await authenticate(login.username, login.password)
  return userId === undefined ? entrance : enterById<Subject>(db, kind, userId, lookup)
}

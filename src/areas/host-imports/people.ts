import { isAdministrator, type Actor } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { isPublic } from './hosts.ts'
import type { HostImportRoom } from './services.ts'
import type { Step } from './step-store.ts'
import { quoteMentions, signed } from './texts.ts'

/** An account of the host, as far as an answer tells of it. */
export interface Account {
  /** By which it is told from all others. */
  readonly login: string
  readonly name: string
  /** Where answers of the host tell it with every account. */
  readonly email?: string | null
}

/** What shows whose an account is. */
export interface Proof {
  readonly email: string | null
  /** By which people sign in here with it. */
  readonly identity: string | null
}

interface Known {
  readonly login: string
  readonly name: string
  readonly user_id: number | null
  readonly username: string | null
}

/** Whose the accounts are that have to do with some things. */
export class People {
  readonly #importerId: number
  readonly #known: ReadonlyMap<string, Known>

  constructor(importerId: number, known: readonly Known[]) {
    this.#importerId = importerId
    this.#known = new Map(known.map((row) => [row.login, row]))
  }

  /** Undefined: nobody that is known here. */
  userOf(account: Account | null): number | undefined {
    return account === null ? undefined : (this.#known.get(account.login)?.user_id ?? undefined)
  }

  /** Who has written something: the importer, where nobody is known. */
  authorOf(account: Account | null): number {
    return this.userOf(account) ?? this.#importerId
  }

  /** A text of somebody, which names him where he is not known. Names in it call nobody. */
  textOf(account: Account | null, text: string | null): string {
    const plain = quoteMentions(text ?? '')
    return account === null || this.userOf(account) !== undefined ? plain : signed(plain, account.name)
  }

  /** What he is called here. */
  nameOf(account: Account | null): string | null {
    return account === null ? null : (this.#known.get(account.login)?.username ?? null)
  }

  usersOf(accounts: readonly Account[]): number[] {
    return [...new Set(accounts.flatMap((account) => this.userOf(account) ?? []))]
  }
}

/**
 * Finds whose accounts are: by an address that is confirmed here, or by the account with which somebody signs in. From
 * a host of which nobody knows who runs it only administrators bring what anybody wrote; others bring what members wrote
 * of the place that it comes to. `prove` asks the host.
 */
export async function findPeople(
  room: HostImportRoom,
  step: Step,
  actor: Actor,
  accounts: readonly (Account | null)[],
  prove: (account: Account) => Promise<Proof>,
): Promise<People> {
  const { db } = room
  const wanted = new Map(accounts.flatMap((one) => (one === null ? [] : [[one.login, one] as const])))
  const cached = await sql<Known>`
    select p.login, p.name, u.id as user_id, u.username
    from host_import_people p left join users u on u.id = p.user_id
    where p.import_id = ${step.importId} and p.login = any (${[...wanted.keys()]}::text[])`.execute(db.writer)
  for (const { login } of cached.rows) wanted.delete(login)
  const found: Known[] = []
  for (const account of wanted.values()) {
    const proof = await prove(account)
    found.push({ login: account.login, name: account.name, ...(await whose(room, step, actor, proof)) })
  }
  await db.transaction((tx) => remember(tx, step.importId, found))
  return new People(actor.user!.id, [...cached.rows, ...found])
}

async function remember(tx: Tx, importId: number, found: readonly Known[]): Promise<void> {
  if (found.length === 0) return
  await sql`
    insert into host_import_people (import_id, login, name, user_id)
    select i.id, f.login, f.name, u.id
    from jsonb_to_recordset(${JSON.stringify(found)}::jsonb) f (login text, name text, user_id bigint)
      join host_imports i on i.id = ${importId} left join users u on u.id = f.user_id
    on conflict do nothing`.execute(tx)
}

async function whose(
  { db, settings }: HostImportRoom,
  step: Step,
  actor: Actor,
  { email, identity }: Proof,
): Promise<Pick<Known, 'user_id' | 'username'>> {
  const nobody = { user_id: null, username: null }
  if (email === null && identity === null) return nobody
  const anybody = isAdministrator(actor) || isPublic(step)
  const administrators = settings.values.allow_contribution_mapping_to_admins
  // The accounts of another host may have the numbers of the public one.
  const provider = isPublic(step) ? step.kind : null
  const { rows } = await sql<{ user_id: number; username: string }>`
    with found as (
      select i.user_id as id, 1 as rank from user_identities i
      where i.provider = ${provider} and i.extern_uid = ${identity}
      union all
      select u.id, 2 from users u where lower(u.email) = lower(${email}) and u.confirmed_at is not null
      union all
      select e.user_id, 3 from user_emails e where lower(e.email) = lower(${email}) and e.confirmed_at is not null
    )
    select u.id as user_id, u.username from found f join users u on u.id = f.id
    where u.state = 'active' and u.kind = 'human' and (u.id = ${actor.user!.id}
      or (not u.admin or ${administrators}) and (${anybody} or exists (
        select from projects p join namespaces n on n.id = p.namespace_id,
          effective_memberships(n.traversal_ids, p.id) m
        where p.id = ${step.projectId} and m.user_id = u.id)))
    order by f.rank limit 1`.execute(db.writer)
  return rows[0] ?? nobody
}

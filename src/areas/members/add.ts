import { userOf, type Actor } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { conflict, notFound, refused } from '../../kernel/errors/index.ts'
import type { MemberRow } from './entities.ts'
import type { Place } from './place.ts'
import * as rules from './rules.ts'
import type { Circumstances, Failure, OutcomeEntity, Wish } from './rules.ts'
import * as store from './store.ts'

export interface Addition {
  readonly actor: Actor
  readonly place: Place
  readonly wish: Wish
  readonly circumstances: Circumstances
}

function named(by: 'id' | 'username', names: readonly string[]): store.Named {
  return by === 'id'
    ? { ids: names.filter((name) => /^\d{1,15}$/.test(name)).map(Number) }
    : { usernames: names }
}

const locked = () => refused(405, '405 Method Not Allowed')

/** Makes one user a member; the refusals in the order of the completions (1.3). */
export async function addOne(
  db: Database,
  { actor, place, wish, circumstances }: Addition,
  by: 'id' | 'username',
  name: string,
): Promise<MemberRow> {
  const [candidate] = await store.candidates(db.reader, place, named(by, [name.trim()]))
  if (candidate === undefined) throw notFound('User')
  if (candidate.direct !== null) throw memberExists()
  if (await store.isLocked(db.reader, place)) throw locked()
  rules.refuseGrant(actor, place, wish)
  rules.refuseFaults(rules.faultsOf(wish, candidate, circumstances))
  const createdById = userOf(actor).id
  const [row] = await store.put(db.writer, place, [candidate.id], { ...wish, createdById, replace: false })
  if (row === undefined) throw memberExists()
  return row
}

function memberExists(): Error {
  return conflict('Member already exists')
}

/** Makes users members or gives those who are another level. Faults of some do not keep the others out. */
export async function addSeveral(
  db: Database,
  { actor, place, wish, circumstances }: Addition,
  by: 'id' | 'username',
  names: readonly string[],
): Promise<OutcomeEntity> {
  const distinct = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))]
  if (distinct.length > rules.mostAtOnce) return rules.tooManyNamed
  if (await store.isLocked(db.reader, place)) throw locked()
  return db.transaction(async (tx) => {
    await store.lockOwners(tx, place)
    const candidates = await store.candidates(tx, place, named(by, distinct))
    if (candidates.length === 0) return rules.nobodyNamed
    const failures: Failure[] = []
    const good: number[] = []
    for (const candidate of candidates) {
      const text =
        rules.unauthorizedText(actor, place, wish, candidate) ??
        rules.sentence(rules.faultsOf(wish, candidate, circumstances))
      if (text === '') good.push(candidate.id)
      else failures.push({ username: candidate.username, text })
    }
    if (good.length > 0) {
      await store.put(tx, place, good, { ...wish, createdById: userOf(actor).id, replace: true })
    }
    return rules.outcome(failures)
  })
}

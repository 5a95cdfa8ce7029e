import { userOf, type Actor } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { conflict, notFound, refused } from '../../kernel/errors/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { MemberRow } from './entities.ts'
import { announceMemberships, newsPlace, type Announcement } from './news.ts'
import type { Place } from './place.ts'
import * as rules from './rules.ts'
import type { Candidate, Circumstances, Failure, OutcomeEntity, Wish } from './rules.ts'
import * as store from './store.ts'

export interface AdditionServices {
  readonly db: Database
  readonly events: Events
}

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
  services: AdditionServices,
  { actor, place, wish, circumstances }: Addition,
  by: 'id' | 'username',
  name: string,
): Promise<MemberRow> {
  const { db } = services
  const [candidate] = await store.candidates(db.reader, place, named(by, [name.trim()]))
  if (candidate === undefined) throw notFound('User')
  if (candidate.direct !== null) throw memberExists()
  if (await store.isLocked(db.reader, place)) throw locked()
  rules.refuseGrant(actor, place, wish)
  rules.refuseFaults(rules.faultsOf(wish, candidate, circumstances))
  const createdById = userOf(actor).id
  return db.transaction(async (tx) => {
    const [row] = await store.put(tx, place, [candidate.id], { ...wish, createdById, replace: false })
    if (row === undefined) throw memberExists()
    await announceMemberships(services, tx, createdById, toldOf(row.id, null, place, wish))
    return row
  })
}

function memberExists(): Error {
  return conflict('Member already exists')
}

/** Makes users members or gives those who are another level. Faults of some do not keep the others out. */
export async function addSeveral(
  services: AdditionServices,
  { actor, place, wish, circumstances }: Addition,
  by: 'id' | 'username',
  names: readonly string[],
): Promise<OutcomeEntity> {
  const { db } = services
  const distinct = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))]
  if (distinct.length > rules.mostAtOnce) return rules.tooManyNamed
  if (await store.isLocked(db.reader, place)) throw locked()
  return db.transaction(async (tx) => {
    await store.lockOwners(tx, place)
    const candidates = await store.candidates(tx, place, named(by, distinct))
    if (candidates.length === 0) return rules.nobodyNamed
    const failures: Failure[] = []
    const good: Candidate[] = []
    for (const candidate of candidates) {
      const text =
        rules.unauthorizedText(actor, place, wish, candidate) ??
        rules.sentence(rules.faultsOf(wish, candidate, circumstances))
      if (text === '') good.push(candidate)
      else failures.push({ username: candidate.username, text })
    }
    if (good.length > 0) {
      const createdById = userOf(actor).id
      const ids = good.map(({ id }) => id)
      await store.put(tx, place, ids, { ...wish, createdById, replace: true })
      await announceMemberships(
        services,
        tx,
        createdById,
        good.flatMap(({ id, direct }) => toldOf(id, direct, place, wish)),
      )
    }
    return rules.outcome(failures)
  })
}

/** The news of who is a member now, unless he was the same before. */
function toldOf(memberId: number, before: Candidate['direct'], place: Place, wish: Wish): Announcement[] {
  const news = {
    memberId,
    ...newsPlace(place),
    accessLevel: wish.accessLevel,
    expiresAt: wish.expiresAt,
  }
  if (before === null) return [{ action: 'join', ...news }]
  const was = { accessLevel: before.access_level, expiresAt: before.expires_at }
  return was.accessLevel === wish.accessLevel && was.expiresAt === wish.expiresAt
    ? []
    : [{ action: 'update', ...news, before: was }]
}

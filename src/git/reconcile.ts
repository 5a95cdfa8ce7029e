import { zeroOid, type Oid, type RefName } from './parse.ts'
import { loadRefs } from './ref-cache.ts'
import type { RefUpdate } from './ref-update.ts'
import type { Workplace } from './run.ts'

/** The values that these refs have now; `zeroOid` for one that does not exist. */
export async function currentValues(
  place: Workplace,
  updates: readonly Pick<RefUpdate, 'ref'>[],
): Promise<Map<RefName, Oid>> {
  const snapshot = await loadRefs(place)
  return new Map(updates.map(({ ref }) => [ref, snapshot.find(ref)?.oid ?? zeroOid]))
}

/**
 * What became of a prepared update whose end nobody has recorded. `unknown`: the ref has a value that none of the
 * updates explains, so it was moved past the journal.
 */
export type Fate = 'applied' | 'abandoned' | 'unknown'

/**
 * Tells for updates that were prepared before a crash which of them took place. `updates` are those of one repository
 * that the journal has no end for, and all later ones on the same refs, oldest first: from the value that a ref has
 * now, the chain of updates that led to it is followed back.
 */
export async function reconcile(place: Workplace, updates: readonly RefUpdate[]): Promise<Fate[]> {
  const current = await currentValues(place, updates)
  const fates = new Map<RefUpdate, Fate>()
  for (const [ref, value] of current) {
    const open = new Set(updates.filter((update) => update.ref === ref))
    const explained = [...open].some(({ oldOid, newOid }) => value === oldOid || value === newOid)
    for (const update of open) fates.set(update, explained ? 'abandoned' : 'unknown')
    for (let link = leadingTo(value, open); link !== undefined; link = leadingTo(link.oldOid, open)) {
      fates.set(link, 'applied')
      open.delete(link)
    }
  }
  return updates.map((update) => fates.get(update) ?? 'unknown')
}

/** The last of these updates that gave its ref the value. */
function leadingTo(value: Oid, updates: ReadonlySet<RefUpdate>): RefUpdate | undefined {
  return [...updates].findLast(({ newOid }) => newOid === value)
}

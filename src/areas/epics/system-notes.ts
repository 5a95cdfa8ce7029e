import { sql, type Tx } from '../../kernel/db/index.ts'
import { tell, toldOfDay, toldOfTexts, type Target, type Told } from '../issues/index.ts'
import type { EpicColumns, StoredEpic } from './store.ts'

export function epicTarget(id: number, groupId: number): Target {
  return { kind: 'Epic', id, projectId: null, namespaceId: groupId }
}

/** What a change of columns tells. */
export function toldOfChange(before: StoredEpic, now: EpicColumns): Told[] {
  const told = toldOfTexts(before, now, 'epic')
  for (const [called, end] of [
    ['start date', 'start_date'],
    ['due date', 'due_date'],
  ] as const) {
    const was = before[`${end}_is_fixed`] ? before[`${end}_fixed`] : null
    const isFixed = now[`${end}_is_fixed`] ?? before[`${end}_is_fixed`]
    const date = now[`${end}_fixed`] === undefined ? before[`${end}_fixed`] : now[`${end}_fixed`]
    const is = isFixed ? (date ?? null) : null
    if (was !== is) told.push(toldOfDay(called, was, is))
  }
  return told
}

interface Named {
  readonly id: number
  readonly iid: number
  readonly namespace_id: number
  readonly full_path: string
}

async function named(tx: Tx, ids: readonly (number | null)[]): Promise<Map<number, Named>> {
  const { rows } = await sql<Named>`
    select e.id, e.iid, e.namespace_id, n.full_path from epics e join namespaces n on n.id = e.namespace_id
    where e.id = any (${ids.filter((id) => id !== null)}::bigint[])`.execute(tx)
  return new Map(rows.map((row) => [row.id, row]))
}

const from = (other: Named, own: Named): string =>
  `${other.namespace_id === own.namespace_id ? '' : other.full_path}&${other.iid}`

/** Tells two epics of one another. */
export async function tellBoth(
  tx: Tx,
  userId: number,
  [one, other]: readonly [number, number],
  words: (place: 'one' | 'other', name: string) => Pick<Told, 'action' | 'body'>,
): Promise<void> {
  const epics = await named(tx, [one, other])
  const [first, second] = [epics.get(one), epics.get(other)]
  if (first === undefined || second === undefined) return
  for (const [place, own, mentioned] of [
    ['one', first, second],
    ['other', second, first],
  ] as const) {
    await tell(tx, epicTarget(own.id, own.namespace_id), userId, [
      { ...words(place, from(mentioned, own)), of: epicTarget(mentioned.id, mentioned.namespace_id) },
    ])
  }
}

/** An epic came below another one, or left it. */
export async function tellOfParent(
  tx: Tx,
  userId: number,
  id: number,
  change: { readonly from: number | null; readonly to: number | null },
): Promise<void> {
  if (change.from === change.to) return
  if (change.from !== null) {
    await tellBoth(tx, userId, [id, change.from], (place, name) => ({
      action: 'epic',
      body: place === 'one' ? `removed parent epic ${name}` : `removed child epic ${name}`,
    }))
  }
  if (change.to !== null) {
    await tellBoth(tx, userId, [id, change.to], (place, name) => ({
      action: 'epic',
      body: place === 'one' ? `added parent epic ${name}` : `added child epic ${name}`,
    }))
  }
}

import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { branchRule } from './entities.ts'
import { pauseAfter } from './pause.ts'
import { levelEntry } from './requested.ts'
import type { Action } from './rules.ts'
import * as store from './store.ts'
import { isUnprotect, requireUnprotect } from './unprotecting.ts'

/** What the old calls of branches say: whether Developers may, beside Maintainers. */
export interface Flags {
  readonly developersCanPush: boolean | undefined
  readonly developersCanMerge: boolean | undefined
}

const level = { developer: 30, maintainer: 40 } as const

/** Protects the branch of exactly this name. Of a rule that is there already only what is said is changed. */
export async function protectByFlags(
  tx: Tx,
  actor: Actor,
  project: ProjectSubject,
  name: string,
  { developersCanPush, developersCanMerge }: Flags,
): Promise<void> {
  const wanted = [
    { action: 'push', developers: developersCanPush },
    { action: 'merge', developers: developersCanMerge },
  ] as const
  const owner = { kind: 'project', id: project.id } as const
  const row = await store.find(tx, owner, name, userOf(actor).id)
  if (row === undefined) {
    const entries = [
      ...wanted.map(({ action, developers }) => entry(action, developers ?? false)),
      entry('unprotect', false),
    ]
    await store.create(tx, owner, {
      name,
      allowForcePush: false,
      codeOwnerApprovalRequired: false,
      entries,
    })
    return
  }
  const rule = branchRule(row)
  requireUnprotect(rule.entries.filter(isUnprotect), actor, project)
  for (const { action, developers } of wanted) {
    if (developers === undefined) continue
    const old = rule.entries.filter((existing) => existing.action === action)
    await store.removeEntries(
      tx,
      old.map(({ id }) => id),
    )
    await store.addEntries(tx, owner, rule.id, [entry(action, developers)])
  }
}

function entry(action: Action, developers: boolean): store.NewEntry {
  return levelEntry(action, developers ? level.developer : level.maintainer)
}

/** Removes the rule of exactly this name, if there is one. */
export async function unprotect(tx: Tx, actor: Actor, project: ProjectSubject, name: string): Promise<void> {
  const row = await store.find(tx, { kind: 'project', id: project.id }, name, userOf(actor).id)
  if (row === undefined) return
  const rule = branchRule(row)
  requireUnprotect(rule.entries.filter(isUnprotect), actor, project)
  await store.remove(tx, rule.id)
  await pauseAfter(tx, project, rule)
}

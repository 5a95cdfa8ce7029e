import { setTimeout as sleep } from 'node:timers/promises'
import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { protectionOf, type BranchRule } from './rules.ts'
import * as store from './store.ts'

/*
 * Who manages rules by a program changes that of the default branch by removing it and making it anew, at once. What
 * others push in between is judged when it is clear what comes: they wait for a moment, and are let in if nothing comes.
 */

/** Seconds that a push waits at most. */
const pause = 2
/** Milliseconds between two looks. */
const look = 50

/** In the transaction that removes a rule. */
export async function pauseAfter(tx: Tx, project: ProjectSubject, removed: BranchRule): Promise<void> {
  const { id, defaultBranch } = project
  if (defaultBranch === null || protectionOf(defaultBranch, [removed]) === undefined) return
  await sql`
    insert into default_branch_pauses (project_id, until) values (${id}, now() + make_interval(secs => ${pause}))
    on conflict (project_id) do update set until = excluded.until`.execute(tx)
}

/** The rules by which branches of a project are to be judged for somebody who moves them. */
export async function settledRules(
  db: Database,
  { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
  branches: readonly string[],
): Promise<BranchRule[]> {
  const { id, defaultBranch } = project
  const userId = actor.user?.id ?? null
  let rules = await store.rulesOf(db.reader, id, userId)
  if (defaultBranch === null || !branches.includes(defaultBranch)) return rules
  // Who may remove the rule has no need to come in between.
  if (may(actor, 'admin_protected_branch', project)) return rules
  while (protectionOf(defaultBranch, rules) === undefined && (await isPaused(db, id))) {
    await sleep(look)
    rules = await store.rulesOf(db.writer, id, userId)
  }
  return rules
}

async function isPaused({ writer }: Database, projectId: number): Promise<boolean> {
  const { rows } = await sql`
    select from default_branch_pauses p where p.project_id = ${projectId} and p.until > now()`.execute(writer)
  return rows.length > 0
}

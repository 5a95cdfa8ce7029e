import { may, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { recordNotFound, refused } from '../../kernel/errors/index.ts'
import { changeLabels } from '../labels/index.ts'
import { copyAwards, copyDiscussions, copyRecords, copySubscriptions, labelsOf } from './copied-history.ts'
import * as store from './store.ts'
import { issueTarget, tell } from './system-notes.ts'
import { changeIssue, type IssueServices } from './write.ts'

export type Verb = 'move' | 'clone'

/** Refuses what may not be: 400 in the words of the endpoint. */
export function checkCopy(verb: Verb, actor: Actor, from: ProjectSubject, to: ProjectSubject): void {
  if (verb === 'move' && from.id === to.id)
    throw refused(400, 'Cannot move issue to project it originates from!')
  if (!may(actor, 'admin_issue', from) || !may(actor, 'admin_issue', to)) {
    throw refused(400, `Cannot ${verb} issue due to insufficient permissions!`)
  }
}

/**
 * Makes the issue anew in another project: its texts, and of labels, milestone and assignees those that are known
 * there. A clone is the caller's. An issue that is moved keeps its author, what was said about it and became of it, its
 * logged time, its links and who is subscribed to it, and leaves a closed one behind that names the new one.
 */
export async function copyIssue(
  services: IssueServices,
  tx: Tx,
  verb: Verb,
  id: number,
  copy: {
    readonly actor: Actor
    readonly from: ProjectSubject
    readonly to: ProjectSubject
    /** Of a clone: with what was said about the issue. A moved one takes it along. */
    readonly withNotes?: boolean | undefined
  },
): Promise<number> {
  const { actor, from, to } = copy
  const user = userOf(actor).id
  const before = await store.lock(tx, id)
  if (before === undefined) throw recordNotFound()
  if (verb === 'move' && before.moved_to_id !== null) {
    throw refused(400, 'Cannot move issue due to insufficient permissions!')
  }
  const made = await store.create(tx, {
    projectId: to.id,
    authorId: verb === 'clone' ? user : (before.author_id ?? user),
    title: before.title,
    description: before.description,
    confidential: before.confidential,
    issueType: before.issue_type,
    discussionLocked: before.discussion_locked,
    dueDate: before.due_date,
    milestoneId: await sameMilestone(tx, to, before.milestone_id),
    epicId: await sameEpic(tx, to, before.epic_id),
    weight: before.weight,
    healthStatus: before.health_status,
    iid: null,
    createdAt: null,
  })
  await store.setAssignees(tx, made.id, await store.assignable(tx, to.id, before.assignee_ids))
  const known = await labelsOf(tx, id, { projectId: to.id, line: to.line })
  const target = issueTarget(made.id, to.id)
  // What moves has its record with it.
  if (verb === 'clone') await changeLabels(tx, { type: 'Issue', id: made.id }, { set: known }, user)
  if (verb === 'move' || copy.withNotes === true) {
    await copyDiscussions(tx, id, target)
  }
  if (verb === 'move') {
    await copyAwards(tx, id, target)
    await copySubscriptions(tx, id, target)
    await copyRecords(tx, id, made.id)
    await sql`
      insert into noteable_labels (noteable_type, noteable_id, label_id)
      select 'Issue', ${made.id}::bigint, l.id from unnest(${known.map((label) => label.id)}::bigint[]) l (id)`.execute(
      tx,
    )
    await takeAlong(tx, id, made.id)
    await changeIssue(services, tx, { actor, project: from }, id, {
      state_event: 'close',
      moved_to_id: made.id,
    })
  }
  const done = verb === 'move' ? 'moved' : 'cloned'
  const name = (project: ProjectSubject, iid: number): string => `${project.fullPath}#${iid}`
  await tell(tx, issueTarget(id, from.id), user, [
    { action: done, body: `${done} to ${name(to, made.iid)}`, of: target },
  ])
  await tell(tx, target, user, [
    { action: done, body: `${done} from ${name(from, before.iid)}`, of: issueTarget(id, from.id) },
  ])
  await services.events.announce(tx, 'issue', {
    projectId: to.id,
    userId: user,
    payload: { action: 'open', issue_id: made.id, from: { verb, issue_id: id } },
  })
  return made.id
}

async function sameMilestone(tx: Tx, to: ProjectSubject, id: number | null): Promise<number | null> {
  if (id === null) return null
  const { rows } = await sql<{ id: number }>`
    select m.id from milestones m
    where m.title = (select o.title from milestones o where o.id = ${id})
      and (m.project_id = ${to.id} or m.namespace_id = any (${[...to.line]}::bigint[]))
    order by m.project_id nulls last limit 1`.execute(tx)
  return rows[0]?.id ?? null
}

/** The epic, if it is one of a group that the other project is in too. */
async function sameEpic(tx: Tx, to: ProjectSubject, id: number | null): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`
    select e.id from epics e where e.id = ${id} and e.namespace_id = any (${[...to.line]}::bigint[])`.execute(
    tx,
  )
  return rows[0]?.id ?? null
}

/** What belongs to the one who has it, wherever it is. */
async function takeAlong(tx: Tx, from: number, to: number): Promise<void> {
  await sql`
    update timelogs t set noteable_id = ${to} where t.noteable_type = 'Issue' and t.noteable_id = ${from}`.execute(
    tx,
  )
  await sql`
    update issues i set time_estimate = o.time_estimate, total_time_spent = o.total_time_spent
    from issues o where i.id = ${to} and o.id = ${from}`.execute(tx)
  await sql`update issues i set time_estimate = 0, total_time_spent = 0 where i.id = ${from}`.execute(tx)
  await sql`update issue_links k set source_id = ${to} where k.source_id = ${from}`.execute(tx)
  await sql`update issue_links k set target_id = ${to} where k.target_id = ${from}`.execute(tx)
}

import { checkIssue, writeIssues, writeLabels, writeMilestones } from '../../project-archives/index.ts'
import * as store from '../step-store.ts'
import { readEach, type Work } from '../work.ts'
import { issueOf, labelOf, milestoneOf } from './records.ts'
import { pageOf, peopleOf } from './work.ts'

export async function takeLabels(work: Work): Promise<void> {
  const { entries, further } = await pageOf(work, '/labels')
  const { records, failures } = readEach('labels', entries, labelOf)
  await work.room.db.transaction(async (tx) => {
    await writeLabels(tx, targetOf(work), records)
    await store.finish(tx, work.step, { ...counted(entries, records), failures, further })
  })
}

export async function takeMilestones(work: Work): Promise<void> {
  const { entries, further } = await pageOf(work, '/milestones?state=all&direction=asc')
  const { records, failures } = readEach('milestones', entries, milestoneOf)
  await work.room.db.transaction(async (tx) => {
    if (records.length > 0) await writeMilestones(tx, targetOf(work), records)
    await store.finish(tx, work.step, { ...counted(entries, records), failures, further })
  })
}

export async function takeIssues(work: Work): Promise<void> {
  const { entries, further } = await pageOf(work, '/issues?state=all&sort=created&direction=asc')
  const { records: found, failures } = readEach('issues', entries, issueOf)
  const people = await peopleOf(
    work,
    found.flatMap(({ author, assignees }) => [author, ...assignees]),
  )
  const records = found.map((issue) =>
    checkIssue({
      iid: issue.number,
      title: issue.title,
      description: people.textOf(issue.author, issue.body),
      state: issue.open ? 'opened' : 'closed',
      issue_type: 'issue',
      created_at: issue.createdAt,
      updated_at: issue.updatedAt,
      closed_at: issue.closedAt,
      author: people.nameOf(issue.author),
      milestone: issue.milestone,
      labels: issue.labels,
      assignees: issue.assignees.flatMap((account) => people.nameOf(account) ?? []),
      discussions: [],
    }),
  )
  await work.room.db.transaction(async (tx) => {
    if (records.length > 0) await writeIssues(tx, targetOf(work), records)
    const fetched = records.length + failures.length
    await store.finish(tx, work.step, { fetched, imported: records.length, failures, further })
  })
}

/** Whose a text is has been looked up before. */
const targetOf = ({ project, actor }: Work) => ({
  projectId: project.id,
  importerId: actor.user!.id,
  asOthers: true,
})

const counted = (entries: readonly unknown[], records: readonly unknown[]) => ({
  fetched: entries.length,
  imported: records.length,
})

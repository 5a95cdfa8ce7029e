import { sql } from '../../../kernel/db/index.ts'
import {
  checkIssue,
  recordReader,
  writeIssues,
  writeLabels,
  writeMilestones,
} from '../../project-archives/index.ts'
import { takeCode } from '../code.ts'
import { credentialsOf } from '../credentials.ts'
import { HostFault } from '../faults.ts'
import { nextNumber } from '../numbers.ts'
import { findPeople, type Account, type People } from '../people.ts'
import { accountsOfRequest, takeRequests } from '../requests.ts'
import * as store from '../step-store.ts'
import type { NewStep } from '../step-store.ts'
import type { Taker } from '../takers.ts'
import { quoted } from '../texts.ts'
import { takeWiki } from '../wiki.ts'
import { readEach, standingOf, type Work } from '../work.ts'
import { placeNotes, writeNotes } from '../writing.ts'
import { clientOf, gitPlaceOf } from './host.ts'
import { commentOf, issueOf, kindLabels, milestoneOf, requestOf } from './records.ts'

const { objectOf } = recordReader

function taking(take: (work: Work) => Promise<void>): Taker {
  return async (room, step, signal) => {
    const { actor, subject: project } = await standingOf(room, step)
    const client = clientOf(room, credentialsOf(room, step), signal)
    await take({ room, step, signal, client, actor, project })
  }
}

/** A page of a list: the first one, or the one that the last one has named. */
async function pageOf(
  { client, step }: Work,
  list: string,
  next: string,
): Promise<{ readonly entries: readonly unknown[]; readonly next: string }> {
  const first = `/repositories/${step.fullName}${list}`
  const raw = objectOf((await client.get(next === '' ? first : client.within(next))).value)
  const { values, next: following } = raw
  if (!Array.isArray(values) || values.length > 1000) throw new HostFault('The host answers with no list.')
  return {
    entries: values as unknown[],
    next: typeof following === 'string' && following.length <= 2000 ? client.within(following) : '',
  }
}

function furtherOf({ step: { stage, relation, number } }: Work, cursor: string): NewStep[] {
  return cursor === '' ? [] : [{ stage, relation, number: number + 1, cursor }]
}

/** The host tells nobody's address; people are known by the accounts with which they sign in here. */
function peopleOf({ room, step, actor }: Work, accounts: readonly (Account | null)[]): Promise<People> {
  return findPeople(room, step, actor, accounts, async ({ login }) => ({ email: null, identity: login }))
}

const targetOf = ({ project, actor }: Work) => ({
  projectId: project.id,
  importerId: actor.user!.id,
  asOthers: true,
})

async function takeLabels(work: Work): Promise<void> {
  await work.room.db.transaction(async (tx) => {
    await writeLabels(tx, targetOf(work), kindLabels)
    await store.finish(tx, work.step, { fetched: kindLabels.length, imported: kindLabels.length })
  })
}

/** They have no numbers of their own there: they get them as they come. */
async function takeMilestones(work: Work): Promise<void> {
  const { room, step, project } = work
  const { entries, next } = await pageOf(work, '/milestones?pagelen=100', step.cursor)
  const { records, failures } = readEach('milestones', entries, milestoneOf)
  await room.db.transaction(async (tx) => {
    const { rows } = await sql<{ highest: number; titles: string[] }>`
      select coalesce(max(m.iid), 0)::int as highest, coalesce(array_agg(m.title), '{}') as titles
      from milestones m where m.project_id = ${project.id}`.execute(tx)
    const { highest, titles } = rows[0]!
    const added = [...new Set(records)].filter((title) => !titles.includes(title))
    const now = new Date().toISOString()
    const made = added.map((title, index) => ({
      ...{ iid: highest + index + 1, title, description: null, state: 'active' as const },
      ...{ start_date: null, due_date: null, created_at: now, updated_at: now },
    }))
    if (made.length > 0) await writeMilestones(tx, targetOf(work), made)
    const imported = records.length
    await store.finish(tx, step, {
      fetched: entries.length,
      imported,
      failures,
      further: furtherOf(work, next),
    })
  })
}

async function takeIssues(work: Work): Promise<void> {
  const { room, step, project } = work
  const { entries, next } = await pageOf(work, '/issues?sort=created_on&pagelen=100', step.cursor)
  const { records: found, failures } = readEach('issues', entries, issueOf)
  const people = await peopleOf(
    work,
    found.flatMap(({ author, assignee }) => [author, assignee]),
  )
  const { rows } = await sql<{ iid: number; title: string }>`
    select m.iid, m.title from milestones m where m.project_id = ${project.id}`.execute(room.db.writer)
  const milestones = new Map(rows.map(({ iid, title }) => [title, iid]))
  const records = found.map((issue) =>
    checkIssue({
      iid: issue.number,
      title: issue.title,
      description: people.textOf(issue.author, issue.body),
      state: issue.open ? 'opened' : 'closed',
      issue_type: 'issue',
      created_at: issue.createdAt,
      updated_at: issue.updatedAt,
      closed_at: issue.open ? null : issue.updatedAt,
      author: people.nameOf(issue.author),
      milestone: milestones.get(issue.milestone ?? '') ?? null,
      labels: issue.kind === null ? [] : [issue.kind],
      assignees: [people.nameOf(issue.assignee)].filter((name) => name !== null),
      discussions: [],
    }),
  )
  await room.db.transaction(async (tx) => {
    if (records.length > 0) await writeIssues(tx, targetOf(work), records)
    const counts = { fetched: entries.length, imported: records.length }
    await store.finish(tx, step, { ...counts, failures, further: furtherOf(work, next) })
  })
}

const requestStates = ['OPEN', 'MERGED', 'DECLINED', 'SUPERSEDED'].map((state) => `state=${state}`).join('&')

async function takePullRequests(work: Work): Promise<void> {
  const list = `/pullrequests?${requestStates}&sort=created_on&pagelen=50`
  const { entries, next } = await pageOf(work, list, work.step.cursor)
  const { records, failures } = readEach('pull_requests', entries, requestOf)
  const people = await peopleOf(work, records.flatMap(accountsOfRequest))
  await takeRequests(work, people, records, {
    fetched: entries.length,
    failures,
    further: furtherOf(work, next),
  })
}

/** What was said of each issue, or of each request, one after the other. */
async function takeComments(work: Work, of: 'Issue' | 'MergeRequest'): Promise<void> {
  const { room, step } = work
  const [at = '', rest = ''] = step.cursor.split(' ', 2)
  const about = at === '' ? await nextNumber(work, of, 0) : Number(at)
  if (about === undefined) {
    await room.db.transaction((tx) => store.finish(tx, step))
    return
  }
  const list = of === 'Issue' ? 'issues' : 'pullrequests'
  const { entries, next } = await pageOf(work, `/${list}/${about}/comments?sort=created_on&pagelen=100`, rest)
  const { records, failures } = readEach(step.relation, entries, commentOf)
  const people = await peopleOf(
    work,
    records.map(({ author }) => author),
  )
  const placed = await placeNotes(
    work,
    records.map(({ id, author, body, createdAt, replyTo, path, place }) => ({
      ...{ id: `${of} ${id}`, number: about, of, createdAt, place, thread: path !== undefined },
      replyTo: replyTo === null ? null : `${of} ${replyTo}`,
      authorId: people.authorOf(author),
      body: people.textOf(author, body),
    })),
  )
  const notes = placed.map((note, index) => {
    const { path, replyTo } = records[index]!
    const plain = path === undefined || note.anchor !== undefined || replyTo !== null
    return plain ? note : { ...note, body: quoted(note.body, path, '') }
  })
  const following = next === '' ? await nextNumber(work, of, about) : about
  const further = following === undefined ? [] : furtherOf(work, `${following} ${next}`.trimEnd())
  await room.db.transaction(async (tx) => {
    const { imported, failures: more } = await writeNotes(tx, work, notes)
    await store.finish(tx, step, {
      fetched: entries.length,
      imported,
      failures: [...failures, ...more],
      further,
    })
  })
}

export const bitbucketTakers: Readonly<Record<string, Taker>> = {
  // The host keeps no heads of requests beside the branches.
  repository: taking((work) => takeCode(work, gitPlaceOf(work.room, work.step, 'code'), () => undefined)),
  wiki: taking((work) => takeWiki(work, gitPlaceOf(work.room, work.step, 'wiki'))),
  labels: taking(takeLabels),
  milestones: taking(takeMilestones),
  issues: taking(takeIssues),
  pull_requests: taking(takePullRequests),
  notes: taking((work) => takeComments(work, 'Issue')),
  request_notes: taking((work) => takeComments(work, 'MergeRequest')),
}

const ofIssues = ['labels', 'milestones', 'issues', 'notes']
const stages = [
  ['repository', 'wiki'],
  ['labels', 'milestones'],
  ['issues', 'pull_requests'],
  ['notes', 'request_notes'],
]

export function firstSteps({ wiki, issues }: { wiki: boolean; issues: boolean }): Omit<NewStep, 'number'>[] {
  const left = new Set([...(wiki ? [] : ['wiki']), ...(issues ? [] : ofIssues)])
  return stages.flatMap((relations, stage) =>
    relations.filter((relation) => !left.has(relation)).map((relation) => ({ stage, relation, cursor: '' })),
  )
}

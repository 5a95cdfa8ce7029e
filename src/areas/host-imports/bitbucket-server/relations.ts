import { sql } from '../../../kernel/db/index.ts'
import type { RefName } from '../../../git/index.ts'
import { recordReader } from '../../project-archives/index.ts'
import { takeCode } from '../code.ts'
import { credentialsOf } from '../credentials.ts'
import { findPeople, type Account, type People } from '../people.ts'
import { accountsOfRequest, takeRequests } from '../requests.ts'
import { nextNumber } from '../numbers.ts'
import * as store from '../step-store.ts'
import type { NewStep } from '../step-store.ts'
import type { Taker } from '../takers.ts'
import { quoted } from '../texts.ts'
import { readEach, standingOf, type Work } from '../work.ts'
import { placeNotes, writeNotes } from '../writing.ts'
import { HostFault } from '../faults.ts'
import { clientOf, gitPlaceOf, pathOf } from './host.ts'
import { activityOf, requestOf, type Comment } from './records.ts'

const { objectOf } = recordReader

const pageSize = 100

function taking(take: (work: Work) => Promise<void>): Taker {
  return async (room, step, signal) => {
    const { actor, subject: project } = await standingOf(room, step)
    const client = clientOf(room, step.address!, credentialsOf(room, step), signal)
    await take({ room, step, signal, client, actor, project })
  }
}

/** A page of a list from this place on; `next`: where the next one begins. */
async function pageFrom(
  { client, step }: Work,
  list: string,
  start: string,
): Promise<{ readonly entries: readonly unknown[]; readonly next: string | undefined }> {
  const mark = list.includes('?') ? '&' : '?'
  const place = `${pathOf(step.fullName)}${list}${mark}start=${start === '' ? 0 : start}&limit=${pageSize}`
  const raw = objectOf((await client.get(place)).value)
  const { values, isLastPage, nextPageStart } = raw
  if (!Array.isArray(values) || values.length > pageSize * 10)
    throw new HostFault('The host answers with no list.')
  const further =
    isLastPage === false && Number.isSafeInteger(nextPageStart) && Number(nextPageStart) > Number(start)
  return { entries: values as unknown[], next: further ? String(nextPageStart) : undefined }
}

function peopleOf({ room, step, actor }: Work, accounts: readonly (Account | null)[]): Promise<People> {
  return findPeople(room, step, actor, accounts, async ({ email = null }) => ({ email, identity: null }))
}

function headOf(ref: RefName): number | undefined {
  const [, number] = /^refs\/pull-requests\/(\d{1,9})\/from$/.exec(ref) ?? []
  return number === undefined ? undefined : Number(number)
}

async function takePullRequests(work: Work): Promise<void> {
  const { step } = work
  const { entries, next } = await pageFrom(work, '/pull-requests?state=ALL&order=OLDEST', step.cursor)
  const { records, failures } = readEach('pull_requests', entries, requestOf)
  const people = await peopleOf(work, records.flatMap(accountsOfRequest))
  const { stage, relation, number } = step
  const further = next === undefined ? [] : [{ stage, relation, number: number + 1, cursor: next }]
  await takeRequests(work, people, records, { fetched: entries.length, failures, further })
}

/** What happened to requests, one after the other: comments, on lines and not, and who has merged them. */
async function takeActivities(work: Work): Promise<void> {
  const { room, step, project } = work
  const [at = '', start = ''] = step.cursor.split(' ', 2)
  const about = at === '' ? await nextNumber(work, 'MergeRequest', 0) : Number(at)
  if (about === undefined) {
    await room.db.transaction((tx) => store.finish(tx, step))
    return
  }
  const { entries, next } = await pageFrom(work, `/pull-requests/${about}/activities`, start)
  const { records, failures } = readEach('notes', entries, activityOf)
  const merged = records.find((activity) => activity.merged !== undefined)?.merged
  // The host tells the latest first.
  const comments = records.toReversed().flatMap((activity) => activity.comments)
  const people = await peopleOf(work, [...comments.map(({ author }) => author), merged?.by ?? null])
  const notes = await placed(work, people, about, comments)
  const following = next === undefined ? await nextNumber(work, 'MergeRequest', about) : about
  const { stage, relation, number } = step
  const further: NewStep[] =
    following === undefined
      ? []
      : [{ stage, relation, number: number + 1, cursor: `${following} ${next ?? ''}`.trimEnd() }]
  await room.db.transaction(async (tx) => {
    const { imported, failures: more } = await writeNotes(tx, work, notes)
    if (merged !== undefined) {
      await sql`
        update merge_requests set merge_user_id = ${people.authorOf(merged.by)}, merged_at = ${merged.at},
          merge_commit_sha = coalesce(${merged.commit}, merge_commit_sha)
        where project_id = ${project.id} and iid = ${about} and state = 'merged'`.execute(tx)
    }
    await store.finish(tx, step, {
      fetched: comments.length,
      imported,
      failures: [...failures, ...more],
      further,
    })
  })
}

async function placed(work: Work, people: People, about: number, comments: readonly Comment[]) {
  const notes = await placeNotes(
    work,
    comments.map(({ id, author, body, createdAt, replyTo, place, path }) => ({
      ...{ id, number: about, of: 'MergeRequest', createdAt, replyTo, place },
      thread: path !== undefined,
      authorId: people.authorOf(author),
      body: people.textOf(author, body),
    })),
  )
  return notes.map((note, index) => {
    const { path } = comments[index]!
    return path === undefined || note.anchor !== undefined
      ? note
      : { ...note, body: quoted(note.body, path, '') }
  })
}

export const bitbucketServerTakers: Readonly<Record<string, Taker>> = {
  repository: taking((work) => takeCode(work, gitPlaceOf(work.room, work.step), headOf)),
  pull_requests: taking(takePullRequests),
  notes: taking(takeActivities),
}

export const firstSteps = ['repository', 'pull_requests', 'notes'].map((relation, stage) => ({
  stage,
  relation,
  cursor: '',
}))

import { nextNumber } from '../numbers.ts'
import type { NewStep } from '../step-store.ts'
import * as store from '../step-store.ts'
import { quoted } from '../texts.ts'
import { readEach, type Work } from '../work.ts'
import { placeNotes, writeNotes, type HostNote } from '../writing.ts'
import { commentOf, reviewCommentOf, reviewOf } from './records.ts'
import { pageOf, pageSizeOf, peopleOf } from './work.ts'

const everything = 'sort=created&direction=asc'
/** Lists of the host that go over all issues end somewhere; those of one issue do not. */
const oneByOne = 'single_endpoint_notes_import'

type Kind = 'Issue' | 'MergeRequest'

/** Comments of issues and pull requests. */
export async function takeComments(work: Work): Promise<void> {
  const { entries, further } = work.step.options.stages?.includes(oneByOne)
    ? await pageOfEach(work, 'any', (number) => `/issues/${number}/comments`)
    : await pageOf(work, `/issues/comments?${everything}`)
  const { records, failures } = readEach('notes', entries, commentOf)
  const people = await peopleOf(
    work,
    records.map(({ author }) => author),
  )
  const notes = records.map(({ id, number, author, body, createdAt }): HostNote => ({
    ...{ id: `comment ${id}`, number, createdAt },
    authorId: people.authorOf(author),
    body: people.textOf(author, body),
  }))
  await writeAll(work, { notes, fetched: entries.length, failures, further })
}

/** Comments on lines of pull requests. What stands on a line that is no longer shown says which it was. */
export async function takeReviewComments(work: Work): Promise<void> {
  const { entries, further } = work.step.options.stages?.includes(oneByOne)
    ? await pageOfEach(work, 'MergeRequest', (number) => `/pulls/${number}/comments`)
    : await pageOf(work, `/pulls/comments?${everything}`)
  const { records, failures } = readEach('diff_notes', entries, reviewCommentOf)
  const people = await peopleOf(
    work,
    records.map(({ author }) => author),
  )
  const placed = await placeNotes(
    work,
    records.map(({ id, number, author, body, createdAt, path, side, line, replyTo }) => ({
      ...{ id, number, createdAt, replyTo, of: 'MergeRequest', thread: true },
      authorId: people.authorOf(author),
      body: people.textOf(author, suggestionsOf(body)),
      place: line === null || replyTo !== null ? undefined : { path, side, line },
    })),
  )
  const notes = placed.map((note, index) => {
    const { path, hunk, replyTo } = records[index]!
    return note.anchor !== undefined || replyTo !== null
      ? note
      : { ...note, body: quoted(note.body, path, hunk) }
  })
  await writeAll(work, { notes, fetched: entries.length, failures, further })
}

/** The host writes proposals with no word of how many lines they take the place of: this one. */
function suggestionsOf(body: string): string {
  return body.replaceAll(/^```suggestion[ \t]*\r?$/gm, '```suggestion:-0+0')
}

const said: Readonly<Record<string, string>> = {
  APPROVED: 'Approved this merge request',
  CHANGES_REQUESTED: 'Requested changes',
  COMMENTED: 'Commented',
  DISMISSED: 'Gave a review that was dismissed',
}

/** What people have said of whole pull requests, one after the other. */
export async function takeReviews(work: Work): Promise<void> {
  let about = 0
  const { entries, further } = await pageOfEach(work, 'MergeRequest', (number) => {
    about = number
    return `/pulls/${number}/reviews`
  })
  const { records, failures } = readEach('reviews', entries, reviewOf)
  const people = await peopleOf(
    work,
    records.map(({ author }) => author),
  )
  const notes = records.flatMap(({ id, author, body, state, submittedAt }): HostNote[] => {
    const done = said[state]
    // One that only holds comments on lines says nothing itself.
    if (done === undefined || submittedAt === null || (state === 'COMMENTED' && body === null)) return []
    return [
      {
        ...{ id: `review ${id}`, number: about, of: 'MergeRequest', createdAt: submittedAt },
        authorId: people.authorOf(author),
        body: people.textOf(author, body === null ? `*${done}*` : `*${done}*\n\n${body}`),
      },
    ]
  })
  await writeAll(work, { notes, fetched: entries.length, failures, further })
}

interface Told {
  readonly notes: readonly HostNote[]
  readonly fetched: number
  readonly failures: readonly store.Failure[]
  readonly further: readonly NewStep[]
}

async function writeAll(work: Work, { notes, fetched, failures, further }: Told): Promise<void> {
  await work.room.db.transaction(async (tx) => {
    const { imported, failures: more } = await writeNotes(tx, work, notes)
    await store.finish(tx, work.step, { fetched, imported, failures: [...failures, ...more], further })
  })
}

/**
 * A page of a list that each issue or request has of its own. The cursor is the number of the one that the step is at,
 * and where its list goes on.
 */
async function pageOfEach(
  work: Work,
  kind: Kind | 'any',
  list: (number: number) => string,
): Promise<{ readonly entries: readonly unknown[]; readonly further: NewStep[] }> {
  const { client, step } = work
  const [at, rest = ''] = step.cursor.split(' ', 2)
  const number = at === '' ? await nextNumber(work, kind, 0) : Number(at)
  if (number === undefined) return { entries: [], further: [] }
  const first = `/repos/${step.fullName}${list(number)}?per_page=${pageSizeOf(work)}`
  const { entries, headers } = await client.list(rest === '' ? first : client.within(rest))
  const next = client.nextOf(headers)
  const following = next === '' ? await nextNumber(work, kind, number) : number
  const { stage, relation } = step
  const further =
    following === undefined
      ? []
      : [{ stage, relation, number: step.number + 1, cursor: `${following} ${next}`.trimEnd() }]
  return { entries, further }
}

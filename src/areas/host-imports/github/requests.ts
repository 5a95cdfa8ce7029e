import { recordReader } from '../../project-archives/index.ts'
import type { Account } from '../people.ts'
import { accountsOfRequest, takeRequests, type HostRequest } from '../requests.ts'
import { readEach, type Work } from '../work.ts'
import { accountOf, pullRequestOf } from './records.ts'
import { pageOf, peopleOf } from './work.ts'

const { objectOf } = recordReader

/** Pull requests become merge requests. */
export async function takePullRequests(work: Work): Promise<void> {
  const { entries, further } = await pageOf(work, '/pulls?state=all&sort=created&direction=asc')
  const { records, failures } = readEach('pull_requests', entries, pullRequestOf)
  const requests: HostRequest[] = []
  for (const { open, ...pull } of records) {
    const merged = pull.mergedAt !== null
    const state = merged ? 'merged' : open ? 'opened' : 'closed'
    requests.push({ ...pull, state, merger: merged ? await mergerOf(work, pull.number) : null })
  }
  const people = await peopleOf(work, requests.flatMap(accountsOfRequest))
  await takeRequests(work, people, requests, { fetched: entries.length, failures, further })
}

/** Only the request by itself tells who has merged it. */
async function mergerOf({ client, step }: Work, number: number): Promise<Account | null> {
  const value = await client.find(`/repos/${step.fullName}/pulls/${number}`)
  return value === undefined ? null : accountOf(objectOf(value)['merged_by'])
}

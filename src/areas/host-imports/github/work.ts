import type { Account, People } from '../people.ts'
import { findPeople, type Proof } from '../people.ts'
import { recordReader } from '../../project-archives/index.ts'
import type { HostImportRoom } from '../services.ts'
import type { NewStep, Step } from '../step-store.ts'
import type { Taker } from '../takers.ts'
import { isMissing } from '../client.ts'
import { credentialsOf } from '../credentials.ts'
import { standingOf, type Work } from '../work.ts'
import { clientOf } from './host.ts'

const { objectOf } = recordReader

/** What is done for a relation of a repository. */
export function taking(take: (work: Work) => Promise<void>): Taker {
  return async (room: HostImportRoom, step: Step, signal: AbortSignal) => {
    const { actor, subject: project } = await standingOf(room, step)
    const client = clientOf(room, step.address, credentialsOf(room, step).secret, signal)
    await take({ room, step, signal, client, actor, project })
  }
}

export const pageSizeOf = ({ step }: Pick<Work, 'step'>): number => step.options.pageSize ?? 100

/** A page of a list of the repository: the one that the step is at. */
export async function pageOf(
  work: Work,
  list: string,
): Promise<{ readonly entries: readonly unknown[]; readonly further: NewStep[] }> {
  const { client, step } = work
  const mark = list.includes('?') ? '&' : '?'
  const first = `/repos/${step.fullName}${list}${mark}per_page=${pageSizeOf(work)}`
  const { entries, headers } = await client.list(step.cursor === '' ? first : client.within(step.cursor))
  const next = client.nextOf(headers)
  const { stage, relation, number } = step
  return { entries, further: next === '' ? [] : [{ stage, relation, number: number + 1, cursor: next }] }
}

/** Whose these accounts are. */
export function peopleOf(work: Work, accounts: readonly (Account | null)[]): Promise<People> {
  return findPeople(work.room, work.step, work.actor, accounts, (account) => prove(work, account))
}

/** The address that somebody shows everybody there, and his number. */
async function prove({ client }: Work, { login }: Account): Promise<Proof> {
  try {
    const raw = objectOf((await client.get(`/users/${encodeURIComponent(login)}`)).value)
    const { email, id } = raw
    return {
      email:
        typeof email === 'string' && email !== '' && email.length <= 320 && !email.includes('\0')
          ? email
          : null,
      identity: Number.isSafeInteger(id) ? String(id) : null,
    }
  } catch (error) {
    // Accounts go, and robots have none.
    if (isMissing(error)) return { email: null, identity: null }
    throw error
  }
}

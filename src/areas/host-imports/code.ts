import {
  fetchRemote,
  GitError,
  listRefs,
  RemoteRefusal,
  resolve,
  zeroOid,
  type Oid,
  type RefName,
  type RefUpdate,
  type RemoteRefs,
  type Repository,
} from '../../git/index.ts'
import { requestRef } from '../merge-requests/index.ts'
import { HttpWire, MirrorProblem, readAddress } from '../mirrors/index.ts'
import { HostFault, HostTrouble } from './faults.ts'
import type { Credentials } from './hosts.ts'
import * as store from './step-store.ts'
import type { Work } from './work.ts'

/** Where a repository of the host is fetched from. */
export interface GitPlace {
  readonly url: string
  readonly credentials: Credentials
}

/** Numbers of requests by the refs under which the host keeps their heads. */
export type RequestRefs = (ref: RefName) => number | undefined

const mebibyte = 1024 * 1024

/** A line to a repository of the host. The credentials go in a header, and stand in no list of arguments. */
export function wireTo(
  { room, signal }: Pick<Work, 'room' | 'signal'>,
  { url, credentials }: GitPlace,
): HttpWire {
  const address = readAddress(url, ['http', 'https'])
  if ('fault' in address) throw new HostFault(`The repository has no usable address: ${address.fault}`)
  return new HttpWire(
    room.outbound,
    { ...address, user: credentials.user ?? 'x-access-token', password: credentials.secret },
    signal,
  )
}

/** Branches, tags and heads of requests. Done twice it moves nothing more. */
export async function takeCode(work: Work, place: GitPlace, requestOf: RequestRefs): Promise<void> {
  const { room, step, signal, actor, project } = work
  const { db, places, door, settings } = room
  const repository = places.of(project)
  const local = await listRefs(repository, project.refsVersion)
  const megabytes = settings.values.receive_max_input_size ?? 0
  let remote: RemoteRefs | undefined
  await using wire = wireTo(work, place)
  const { quarantine } = await fetchRemote(
    repository,
    wire,
    (found) => {
      remote = found
      return [...found.refs.values(), ...headsOf(found, requestOf).values()]
    },
    { signal, maxSize: megabytes > 0 ? megabytes * mebibyte : undefined },
  ).catch(gitFault)
  await using _quarantine = quarantine
  const { refs, head } = remote!
  const updates = [...refs].flatMap(([ref, newOid]) => moving(ref, local.find(ref)?.oid, newOid))
  if (updates.length > 0) {
    // Of an empty project the first branch becomes the default one.
    updates.sort((one, other) => Number(other.ref === head) - Number(one.ref === head))
    const { rejected } = await door.bringEach({ actor, project, imports: true }, updates, quarantine)
    const [first] = rejected
    if (first !== undefined) throw new HostFault(`${first.update.ref} was not taken: ${first.message}`)
  }
  const hidden = await hiddenMoves(repository, headsOf(remote!, requestOf))
  if (!(await door.moveInternal(project, hidden, quarantine))) {
    throw new HostTrouble('The heads of requests could not be written.')
  }
  await db.transaction((tx) => store.finish(tx, step, { fetched: refs.size, imported: refs.size }))
}

function moving(ref: RefName, oldOid: Oid = zeroOid, newOid: Oid): RefUpdate[] {
  return oldOid === newOid ? [] : [{ ref, oldOid, newOid }]
}

/** Heads of requests, by the refs that they have here. */
function headsOf({ others }: RemoteRefs, requestOf: RequestRefs): ReadonlyMap<RefName, Oid> {
  return new Map(
    [...others].flatMap(([ref, oid]) => {
      const number = requestOf(ref)
      return number === undefined ? [] : [[requestRef(number, 'head'), oid] as const]
    }),
  )
}

async function hiddenMoves(repository: Repository, heads: ReadonlyMap<RefName, Oid>): Promise<RefUpdate[]> {
  const updates: RefUpdate[] = []
  for (const [ref, oid] of heads) updates.push(...moving(ref, await resolve(repository, ref), oid))
  return updates
}

/** What went wrong between two repositories, in words without anything secret. */
export function gitFault(error: unknown): never {
  if (error instanceof MirrorProblem) {
    throw new (error.passing ? HostTrouble : HostFault)(`The repository: ${error.message}`)
  }
  if (error instanceof RemoteRefusal) throw new HostFault('The host does not give the repository.')
  if (error instanceof GitError && error.failure === 'too-large') {
    throw new HostFault('The repository is too large.')
  }
  if (error instanceof GitError && error.failure === 'protocol') {
    throw new HostTrouble(`The host does not answer as git does: ${error.message}`)
  }
  if (error instanceof GitError && error.failure === 'bad-objects') {
    throw new HostFault('Git does not take what the host has.')
  }
  throw error
}

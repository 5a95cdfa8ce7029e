import {
  parseRefName,
  resolve,
  zeroOid,
  type Oid,
  type RefName,
  type RefUpdate,
  type Repository,
} from '../../../git/index.ts'
import type { DoorProject } from '../../repository/index.ts'
import type { MergeRequestServices } from '../services.ts'

export type RequestRef = 'head' | 'merge'

export function requestRef(iid: number, name: RequestRef): RefName {
  return parseRefName(`refs/merge-requests/${iid}/${name}`)!
}

function keepAround(oid: Oid): RefName {
  return parseRefName(`refs/keep-around/${oid}`)!
}

type Keeping = Pick<MergeRequestServices, 'places' | 'door'>

/** Lets commits stay whatever becomes of the branches. */
export async function keepCommits(
  services: Keeping,
  project: DoorProject,
  commits: readonly (Oid | undefined)[],
): Promise<void> {
  const wanted = [...new Set(commits.filter((oid) => oid !== undefined))]
  await pointAll(
    services,
    project,
    wanted.map((oid) => [keepAround(oid), oid]),
  )
}

/** Points refs that only the service writes where they belong, all at once. */
export async function pointAll(
  { places, door }: Keeping,
  project: DoorProject,
  wanted: readonly (readonly [RefName, Oid])[],
): Promise<void> {
  const repository = places.of(project)
  const updates = await Promise.all(wanted.map(([ref, oid]) => moving(repository, ref, oid)))
  await door.moveInternal(project, updates.flat())
}

/** Points a ref of a request where it belongs; with `undefined` it goes away. */
export async function pointRequestRef(
  services: Keeping,
  project: DoorProject,
  iid: number,
  name: RequestRef,
  oid: Oid | undefined,
): Promise<void> {
  await pointAll(services, project, [[requestRef(iid, name), oid ?? zeroOid]])
}

async function moving(repository: Repository, ref: RefName, newOid: Oid): Promise<RefUpdate[]> {
  const oldOid = (await resolve(repository, ref)) ?? zeroOid
  return oldOid === newOid ? [] : [{ ref, oldOid, newOid }]
}

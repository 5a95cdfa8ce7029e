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

/** Lets commits stay whatever becomes of the branches. */
export async function keepCommits(
  { places, door }: Pick<MergeRequestServices, 'places' | 'door'>,
  project: DoorProject,
  commits: readonly (Oid | undefined)[],
): Promise<void> {
  const repository = places.of(project)
  const wanted = [...new Set(commits.filter((oid) => oid !== undefined))]
  const updates = await Promise.all(wanted.map((oid) => moving(repository, keepAround(oid), oid)))
  await door.moveInternal(project, updates.flat())
}

/** Points a ref of a request where it belongs; with `undefined` it goes away. */
export async function pointRequestRef(
  { places, door }: Pick<MergeRequestServices, 'places' | 'door'>,
  project: DoorProject,
  iid: number,
  name: RequestRef,
  oid: Oid | undefined,
): Promise<void> {
  await door.moveInternal(project, await moving(places.of(project), requestRef(iid, name), oid ?? zeroOid))
}

async function moving(repository: Repository, ref: RefName, newOid: Oid): Promise<RefUpdate[]> {
  const oldOid = (await resolve(repository, ref)) ?? zeroOid
  return oldOid === newOid ? [] : [{ ref, oldOid, newOid }]
}

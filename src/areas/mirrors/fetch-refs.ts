import type { ProjectSubject } from '../../access/index.ts'
import {
  fetchRemote,
  listRefs,
  type Oid,
  type Proposal,
  type RefName,
  type RemoteWire,
} from '../../git/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Mover, RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { Address } from './address.ts'
import { differing, planPull } from './plan-pull.ts'
import { MirrorProblem } from './problem.ts'
import { named } from './wire.ts'

/** Commits that are on their way in. */
export interface NewCommits {
  readonly objects: Proposal['objects']
  readonly heads: readonly Oid[]
}

/** Brings the large files that new commits name from where these come from. Throws `MirrorProblem`. */
export type BringLargeFiles = (
  project: ProjectSubject,
  commits: NewCommits,
  from: { readonly address: Address; readonly signal: AbortSignal },
) => Promise<void>

export interface FetchServices {
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly settings: Settings
  readonly bringLargeFiles: BringLargeFiles
}

/** In whose name refs move, and what comes of it. */
export type RefMover = Omit<Mover<ProjectSubject>, 'via'>

/** Brings branches and tags of a repository elsewhere to where they are there. Throws `MirrorProblem` for what does not fit. */
export async function fetchRefs(
  { places, door, settings, bringLargeFiles }: FetchServices,
  mover: RefMover,
  wire: RemoteWire,
  {
    address,
    signal,
    isWanted,
    overwrites,
  }: {
    readonly address: Address
    readonly signal: AbortSignal
    readonly isWanted: (branch: string) => boolean
    /** What has gone another way here is overwritten. */
    readonly overwrites: boolean
  },
): Promise<void> {
  const repository = places.of(mover.project)
  const local = await listRefs(repository, mover.project.refsVersion)
  const megabytes = settings.values.receive_max_input_size ?? 0
  let wanted: readonly { readonly ref: RefName; readonly oid: Oid }[] = []
  const { quarantine } = await fetchRemote(
    repository,
    wire,
    (remote) => {
      wanted = differing(local, remote, isWanted)
      return wanted.map(({ oid }) => oid)
    },
    { signal, maxSize: megabytes > 0 ? megabytes * 1024 * 1024 : undefined },
  )
  await using _quarantine = quarantine
  const objects = quarantine?.repository ?? repository
  const { updates, diverged } = await planPull(objects, local, wanted, { overwrites })
  if (updates.length > 0) {
    const heads = updates.map(({ newOid }) => newOid)
    await bringLargeFiles(mover.project, { objects, heads }, { address, signal })
    const { rejected } = await door.bringEach(mover, updates, quarantine)
    if (rejected.length > 0) {
      const refs = rejected.map(({ update, message }) => `${update.ref} (${message})`)
      throw new MirrorProblem(`Some refs could not be moved: ${named(refs)}`, { passing: true })
    }
  }
  if (diverged.length > 0) {
    throw new MirrorProblem(`Some refs have diverged and were left as they are: ${named(diverged)}`)
  }
}

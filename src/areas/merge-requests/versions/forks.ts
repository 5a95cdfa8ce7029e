import { fetchCommits, listBranches, parseRefName, zeroOid, type Oid } from '../../../git/index.ts'
import { readable, type ReadProject } from '../../repository/index.ts'
import type { MergeRequestServices } from '../services.ts'

/** Lets the repository of the target have a commit of a fork, and keep it. */
export async function bringCommits(
  { places, door }: Pick<MergeRequestServices, 'places' | 'door'>,
  source: ReadProject,
  target: ReadProject,
  head: Oid,
): Promise<void> {
  if (source.id === target.id) return
  const [from, into] = await Promise.all([readable(places, source), places.open(target)])
  if (from === undefined) return
  const known = await listBranches(into, target.refsVersion)
  await using quarantine = await fetchCommits(from, into, { head, known: known.map(({ oid }) => oid) })
  if (quarantine === undefined) return
  const ref = parseRefName(`refs/keep-around/${head}`)!
  await door.moveInternal(target, [{ ref, oldOid: zeroOid, newOid: head }], quarantine)
}

import {
  branchName,
  branchRef,
  findTag,
  listRefs,
  parseRefName,
  tagName,
  tagRef,
  type Oid,
  type RefName,
  type RefSnapshot,
  type Repository,
} from '../../git/index.ts'

export interface FoundRef {
  readonly name: string
  readonly tag: boolean
  /** The commit it comes to; a tag of something else has none that git can read as a commit. */
  readonly sha: Oid
}

/** A branch or tag by its short or full name, as the refs are at this version. */
export async function findRef(
  repository: Repository,
  refsVersion: number,
  name: string,
): Promise<FoundRef | 'missing' | 'ambiguous'> {
  const snapshot = await listRefs(repository, refsVersion)
  const full = name.startsWith('refs/') ? parseRefName(name) : undefined
  if (full !== undefined) return found(snapshot, full) ?? 'missing'
  const branch = found(snapshot, branchRef(name))
  const tag = found(snapshot, tagRef(name))
  if (branch !== undefined && tag !== undefined) return 'ambiguous'
  return branch ?? tag ?? 'missing'
}

/** The same for reading: of a branch and a tag of one name the branch is meant. */
export async function findRefToRead(
  repository: Repository,
  refsVersion: number,
  name: string,
): Promise<FoundRef | undefined> {
  const ref = await findRef(repository, refsVersion, name)
  if (ref === 'missing') return undefined
  return ref === 'ambiguous' ? findRefToRead(repository, refsVersion, `refs/heads/${name}`) : ref
}

/** What an annotated tag says; null for others and for branches. */
export async function tagMessage(
  repository: Repository,
  refsVersion: number,
  { name, tag }: { readonly name: string; readonly tag: boolean },
): Promise<string | null> {
  const ref = tag ? tagRef(name) : undefined
  const known = ref && (await listRefs(repository, refsVersion)).find(ref)
  if (known?.peeled === undefined) return null
  return (await findTag(repository, known.oid))?.message.trimEnd() ?? null
}

function found(snapshot: RefSnapshot, ref: RefName | undefined): FoundRef | undefined {
  const known = ref === undefined ? undefined : snapshot.find(ref)
  if (known === undefined) return undefined
  const branch = branchName(known.name)
  const name = branch ?? tagName(known.name)
  return name === undefined ? undefined : { name, tag: branch === undefined, sha: known.peeled ?? known.oid }
}

import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { annotateTag, findCommit, tagRef, zeroOid, type Oid, type UpdateOutcome } from '../../git/index.ts'
import { forbidden, refused, unprocessable } from '../../kernel/errors/index.ts'
import { readable, refsOf, resolveName } from '../repository/index.ts'
import type { ReleaseServices } from './index.ts'

/** The commit of the tag that a release is made of; the tag is made from `ref` where there is none. */
export async function ensureTag(
  { places, door }: ReleaseServices,
  { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
  {
    tag,
    ref,
    message,
  }: { readonly tag: string; readonly ref?: string | undefined; readonly message?: string | undefined },
): Promise<Oid> {
  const name = tag.startsWith('refs/') ? undefined : tagRef(tag)
  if (name === undefined) throw refused(400, 'Tag name invalid')
  const known = (await refsOf(places, project))?.find(name)
  const repository = await readable(places, project)
  if (known !== undefined && repository !== undefined) {
    const commit = await findCommit(repository, known.oid)
    if (commit === undefined) throw refused(400, `Target ${tag} is invalid`)
    return commit.oid
  }
  if (ref === undefined || ref === '') throw unprocessable('Ref is not specified')
  const target = await resolveName(repository, ref)
  const commit = target && repository && (await findCommit(repository, target))
  if (repository === undefined || commit === undefined) throw refused(400, `Target ${ref} is invalid`)
  const mover = { actor, project, via: 'web' } as const
  let outcome: UpdateOutcome
  if (message !== undefined && message.trim() !== '') {
    const { name: who, email } = userOf(actor)
    const tagger = { name: who, email, date: new Date(), offset: 0 }
    await using change = await annotateTag(repository, { tag: name, target: commit.oid, tagger, message })
    outcome = await door.update(mover, change.updates, change)
  } else {
    outcome = await door.update(mover, [{ ref: name, oldOid: zeroOid, newOid: commit.oid }])
  }
  const [problem] = outcome.rejected
  if (problem === undefined) return commit.oid
  if (problem.reason === 'refused') throw forbidden()
  // Who makes the tag at the same time may be before us.
  const made = problem.reason === 'stale' ? await findCommit(repository, name) : undefined
  if (made === undefined) throw refused(400, 'Tag name invalid')
  return made.oid
}

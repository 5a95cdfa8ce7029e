import type { ProjectSubject } from '../../access/index.ts'
import {
  blobSize,
  branchName,
  commitChanges,
  diffBlobs,
  looksBinary,
  readBlob,
  type ChangedPath,
  type Commit,
  type Proposal,
  type RefGuard,
  type Refusal,
} from '../../git/index.ts'
import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import { addedLines, linesOf } from './lines.ts'
import { findSecret, type FoundSecret } from './patterns.ts'

/** Commits that are looked at in one push: more of them at once are an import, whose history is what it is. */
const mostCommits = 1000
/** Bytes of a file; larger ones are no text of people. */
const largestFile = 1024 * 1024
/** Who pushes says so where it is no secret: for the whole push, or in the message of a commit. */
const skippingOption = 'secret_push_protection.skip_all'
const skippingWords = '[skip secret push protection]'

interface GuardServices {
  readonly db: Database
  readonly settings: Pick<Settings, 'values'>
}

/** Keeps tokens and keys from coming in, where the instance offers that and the project wants it. */
export function secretGuard(
  { db, settings }: GuardServices,
  { project }: { project: ProjectSubject },
): RefGuard {
  return {
    async check({ updates, objects, pushOptions }) {
      if (!settings.values.secret_push_protection_available || pushOptions.includes(skippingOption)) return []
      if (!(await isProtected(db.reader, project.id))) return []
      const refusals: Refusal[] = []
      for (const update of updates) {
        if (branchName(update.ref) === undefined || update.isDeletion) continue
        const message = await problemOf(await update.newCommits(mostCommits), objects)
        if (message !== undefined) refusals.push({ ref: update.ref, message })
      }
      return refusals
    },
  }
}

async function isProtected(db: Reader, projectId: number): Promise<boolean> {
  const { rows } = await sql<{ on: boolean }>`
    select p.secret_push_protection as on from projects p where p.id = ${projectId}`.execute(db)
  return rows[0]?.on === true
}

async function problemOf(
  commits: readonly Commit[],
  objects: Proposal['objects'],
): Promise<string | undefined> {
  const looked = commits
    .filter(({ message, parents }) => parents.length < 2 && !message.includes(skippingWords))
    .map(({ oid }) => oid)
  for await (const change of commitChanges(objects, looked)) {
    const found = await secretIn(change, objects)
    if (found !== undefined) {
      return (
        `PUSH BLOCKED: Secrets detected in code changes: ${found.name} in ${change.path}:${found.line}. ` +
        `To push anyway, push with the option ${skippingOption}, or write ${skippingWords} into the commit message.`
      )
    }
  }
  return undefined
}

/** In what a commit added to a file. */
async function secretIn(
  { status, oldOid, newOid, newMode }: ChangedPath,
  objects: Proposal['objects'],
): Promise<FoundSecret | undefined> {
  if (status === 'deleted' || newMode === '160000') return undefined
  if (((await blobSize(objects, newOid)) ?? largestFile + 1) > largestFile) return undefined
  const content = await readBlob(objects, newOid, largestFile)
  if (content === undefined || looksBinary(content)) return undefined
  const text = content.toString('utf8')
  const found = findSecret(linesOf(text))
  // What was there before stays; only then is it worth a diff.
  if (found === undefined || status === 'added') return found
  const before = (await blobSize(objects, oldOid)) ?? 0
  return before > largestFile ? found : findSecret(addedLines(await diffBlobs(objects, oldOid, newOid)))
}

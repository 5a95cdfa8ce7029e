import { readCommits, type Commit } from './commits.ts'
import { isAncestor } from './is-ancestor.ts'
import { isZero, type Oid } from './parse.ts'
import type { ProposedUpdate, RefUpdate } from './ref-update.ts'
import type { Repository } from './repository.ts'
import { run } from './run.ts'

/** An update together with what a guard may ask about it. `objects` sees the quarantine, where there is one. */
export function proposeUpdate(objects: Repository, update: RefUpdate): ProposedUpdate {
  const isCreation = isZero(update.oldOid)
  const isDeletion = isZero(update.newOid)
  let forced: Promise<boolean> | undefined
  const commits = new Map<number, Promise<readonly Commit[]>>()
  return {
    ...update,
    isCreation,
    isDeletion,
    isForced() {
      if (isCreation || isDeletion) return Promise.resolve(false)
      return (forced ??= isAncestor(objects, update.oldOid, update.newOid).then((ancestor) => !ancestor))
    },
    newCommits(limit = 1000) {
      if (isDeletion) return Promise.resolve([])
      let found = commits.get(limit)
      if (found === undefined) {
        found = newCommits(objects, update.newOid, limit)
        commits.set(limit, found)
      }
      return found
    },
  }
}

async function newCommits(objects: Repository, head: Oid, limit: number): Promise<readonly Commit[]> {
  const { stdout, exitCode } = await run(objects, 'rev-list', {
    flags: [`--max-count=${limit}`, '--stdin', '--not', '--all'],
    input: `${head}\n`,
    // A tag may name a tree or a blob: that brings no commits.
    accept: [0, 128],
  })
  if (exitCode !== 0) return []
  return readCommits(objects, stdout.toString().split('\n').filter(Boolean) as Oid[])
}

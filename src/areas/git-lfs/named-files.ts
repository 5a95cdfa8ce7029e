import { newBlobs, readBlob } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { NewCommits } from '../mirrors/index.ts'
import { readFileAt } from '../repository/index.ts'
import { largestPointer, readPointer, type Pointer } from './pointer.ts'
import * as store from './store.ts'

const largestAttributes = 64 * 1024
/** Blobs that are looked at, and objects that the database is asked for, at one time. */
const atOnce = 1000

/**
 * The large files that new commits name and a project does not have, in groups. Where it has none at all, only commits
 * whose attributes speak of such are searched.
 */
export async function* lackingFiles(
  db: Database,
  { id, has_objects }: Pick<store.LfsFacts, 'has_objects'> & { readonly id: number },
  commits: NewCommits,
): AsyncGenerator<readonly Pointer[], void, undefined> {
  if (!has_objects && !(await declares(commits))) return
  const { objects, heads } = commits
  for await (const oids of newBlobs(objects, heads, { smallerThan: largestPointer, atOnce })) {
    const blobs = await Promise.all(oids.map((oid) => readBlob(objects, oid, largestPointer)))
    const named = new Map<string, Pointer>()
    for (const content of blobs) {
      const pointer = content && readPointer(content)
      if (pointer !== undefined) named.set(pointer.oid, pointer)
    }
    if (named.size === 0) continue
    const found = await store.findObjects(db.reader, id, [...named.keys()])
    const borrowed = found.filter(({ own }) => !own).map(({ oid }) => oid)
    await store.link(db, id, borrowed)
    for (const { oid } of found) named.delete(oid)
    if (named.size > 0) yield [...named.values()]
  }
}

async function declares({ objects, heads }: NewCommits): Promise<boolean> {
  for (const head of new Set(heads)) {
    const attributes = await readFileAt(objects, head, '.gitattributes', largestAttributes)
    if (attributes === 'too-large' || attributes?.includes('filter=lfs') === true) return true
  }
  return false
}

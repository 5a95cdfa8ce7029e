import { changeOf, type ChangedPath } from './diffs.ts'
import type { Oid } from './parse.ts'
import { records, type Workplace } from './run.ts'

/** The files that each of these commits changed against its first parent, or against nothing; renames are two changes. */
export async function* commitChanges(
  place: Workplace,
  commits: readonly Oid[],
): AsyncGenerator<ChangedPath, void, undefined> {
  if (commits.length === 0) return
  const fields = records(place, 'diff-tree', 0, {
    flags: ['--stdin', '-r', '-z', '--raw', '--root', '--no-renames', '--diff-merges=first-parent'],
    input: commits.map((oid) => `${oid}\n`).join(''),
  })
  // The id of a commit, then for each file `:oldMode newMode oldOid newOid S` and its path; all end in NUL.
  for await (const field of fields) {
    const facts = field.toString()
    if (!facts.startsWith(':')) continue
    const path = (await fields.next()).value?.toString() ?? ''
    yield changeOf(facts, path, path)
  }
}

import { emptyTreeOid, isZero, type Oid } from './parse.ts'
import type { FileMode } from './tree-format.ts'
import { records, type Workplace } from './run.ts'

export interface ChangedPath {
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed' | 'type-changed'
  readonly path: string
  /** Where it was before: another path for `renamed`, else the same. */
  readonly oldPath: string
  readonly oldMode: FileMode | '000000'
  readonly newMode: FileMode | '000000'
  readonly oldOid: Oid
  readonly newOid: Oid
}

export interface DiffStat {
  readonly files: number
  /** Lines; those of binary files are not counted. */
  readonly additions: number
  readonly deletions: number
}

const nothing: DiffStat = { files: 0, additions: 0, deletions: 0 }
const nul = 0

const statuses: Readonly<Record<string, ChangedPath['status']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  T: 'type-changed',
}

/** `zeroOid` (a ref that did not exist) compares as the empty tree. */
function side(oid: Oid): Oid {
  return isZero(oid) ? emptyTreeOid : oid
}

/** The files that differ between two commits or trees. Finding renames costs time; without it they are two changes. */
export async function changedPaths(
  place: Workplace,
  from: Oid,
  to: Oid,
  { renames = false, limit = Infinity }: { renames?: boolean; limit?: number } = {},
): Promise<ChangedPath[]> {
  const result: ChangedPath[] = []
  const fields = records(place, 'diff-tree', nul, {
    flags: ['-r', '-z', '--raw', renames ? '--find-renames' : '--no-renames'],
    revs: [side(from), side(to)],
  })
  // `:oldMode newMode oldOid newOid S`, then one path, or two for a rename; all end in NUL.
  for await (const field of fields) {
    const facts = field.toString()
    const oldPath = await text(fields)
    result.push(changeOf(facts, oldPath, / R\d*$/.test(facts) ? await text(fields) : oldPath))
    if (result.length >= limit) break
  }
  return result
}

/** From a line `:oldMode newMode oldOid newOid S` and the names that follow it. */
export function changeOf(facts: string, oldPath: string, path: string): ChangedPath {
  const [oldMode = '', newMode = '', oldOid = '', newOid = '', status = ''] = facts.slice(1).split(' ')
  return {
    status: statuses[status.charAt(0)] ?? 'modified',
    path,
    oldPath,
    oldMode: oldMode as FileMode,
    newMode: newMode as FileMode,
    oldOid: oldOid as Oid,
    newOid: newOid as Oid,
  }
}

async function text(fields: AsyncGenerator<Buffer, void, undefined>): Promise<string> {
  const next = await fields.next()
  return next.value?.toString() ?? ''
}

/** Lines added and removed between two commits or trees, renames found. */
export async function diffStat(place: Workplace, from: Oid, to: Oid): Promise<DiffStat> {
  const fields = records(place, 'diff-tree', nul, {
    flags: ['-r', '-z', '--numstat', '--find-renames'],
    revs: [side(from), side(to)],
  })
  return (await sums(fields)).get('') ?? nothing
}

/** The same for each of these commits against its first parent, or against nothing for a root. */
export async function commitStats(place: Workplace, commits: readonly Oid[]): Promise<Map<Oid, DiffStat>> {
  const fields = records(place, 'diff-tree', nul, {
    flags: ['--stdin', '-r', '-z', '--numstat', '--root', '--find-renames', '--diff-merges=first-parent'],
    input: commits.map((oid) => `${oid}\n`).join(''),
  })
  const found = await sums(fields)
  return new Map(commits.map((oid) => [oid, found.get(oid) ?? nothing]))
}

/** Reads `added TAB removed TAB path`, where a rename has an empty path and two fields more; ids stand between. */
async function sums(fields: AsyncGenerator<Buffer, void, undefined>): Promise<Map<string, DiffStat>> {
  const result = new Map<string, DiffStat>()
  let current = ''
  for await (const field of fields) {
    const line = field.toString('latin1')
    const parts = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(line)
    if (parts === null) {
      current = line.trim()
      continue
    }
    if (parts[3] === '') {
      await fields.next()
      await fields.next()
    }
    const sum = result.get(current) ?? nothing
    result.set(current, {
      files: sum.files + 1,
      additions: sum.additions + (Number(parts[1]) || 0),
      deletions: sum.deletions + (Number(parts[2]) || 0),
    })
  }
  return result
}

import { streamBlob } from './blobs.ts'
import type { Commit } from './commit-format.ts'
import { readCommits } from './commits.ts'
import type { Oid, TreePath } from './parse.ts'
import type { Repository } from './repository.ts'
import { records } from './run.ts'

const newline = 0x0a

export interface BlamePart {
  readonly commit: Commit
  /** Without their line breaks. */
  readonly lines: readonly string[]
}

/** Lines of a file with the commit that each comes from; neighbours of one commit together. Lines count from 1. */
export async function blame(
  repository: Repository,
  commit: Oid,
  path: TreePath,
  range?: { readonly start: number; readonly end: number },
): Promise<BlamePart[]> {
  const found: { oid: Oid; lines: string[] }[] = []
  const lines = records(repository, 'blame', newline, {
    flags: ['--porcelain', ...(range === undefined ? [] : ([`-L${range.start},${range.end}`] as const))],
    revs: [commit],
    paths: [path],
  })
  let current: Oid | undefined
  for await (const line of lines) {
    if (line[0] === 0x09) {
      const text = line.toString('utf8', 1)
      const last = found.at(-1)
      if (last !== undefined && last.oid === current) last.lines.push(text)
      else found.push({ oid: current!, lines: [text] })
    } else {
      const head = /^([0-9a-f]{40}) \d+ \d+/.exec(line.toString('latin1', 0, 80))
      if (head !== null) current = head[1] as Oid
    }
  }
  const commits = await readCommits(repository, [...new Set(found.map(({ oid }) => oid))])
  const byOid = new Map(commits.map((one) => [one.oid, one]))
  return found.map(({ oid, lines: text }) => ({ commit: byOid.get(oid)!, lines: text }))
}

/** The lines of a blob; a last one without a line break counts. */
export async function lineCount(repository: Repository, oid: Oid): Promise<number> {
  const found = await streamBlob(repository, oid)
  if (found === undefined) return 0
  let count = 0
  let last = newline
  for await (const chunk of found.content as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) count += 1
    last = chunk.at(-1) ?? last
  }
  return last === newline ? count : count + 1
}

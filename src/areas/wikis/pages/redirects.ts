import { parseDocument, YAMLMap } from 'yaml'
import {
  findEntry,
  parseFilePath,
  parsePath,
  readBlob,
  type Oid,
  type Repository,
} from '../../../git/index.ts'
import type { FileAction } from '../../../git/index.ts'

/** Where the pages tell old addresses from new ones; clients of the repository know it by this name. */
const file = parseFilePath('.gitlab/redirects.yml')!
const longest = 1024 * 1024

/** What keeps the old address of a renamed page leading to it. Nothing when the file is none that we could write. */
export async function redirectActions(
  repository: Repository,
  head: Oid,
  from: string,
  to: string,
): Promise<FileAction[]> {
  const folder = await findEntry(repository, head, parsePath('.gitlab')!)
  if (folder === undefined) return [write('create', new Map([[from, to]]))]
  if (folder.type !== 'tree') return []
  const entry = await findEntry(repository, head, file)
  if (entry === undefined) return [write('create', new Map([[from, to]]))]
  if (entry.type !== 'blob' || entry.mode === '120000') return []
  const text = await readBlob(repository, entry.oid, longest).catch(() => undefined)
  if (text === undefined) return []
  return [write('update', follow(parse(text.toString('utf8')), from, to))]
}

function parse(text: string): Map<string, string> {
  const document = parseDocument(text, { logLevel: 'silent' })
  const pairs =
    document.errors.length === 0 && document.contents instanceof YAMLMap ? document.contents.items : []
  return new Map(pairs.map(({ key, value }) => [String(key), String(value)]))
}

/** Addresses that led to the old place lead to the new one at once; nothing leads away from a page that is there. */
function follow(redirects: Map<string, string>, from: string, to: string): Map<string, string> {
  for (const [old, target] of redirects) if (target === from) redirects.set(old, to)
  redirects.set(from, to)
  redirects.delete(to)
  return redirects
}

function write(action: 'create' | 'update', redirects: ReadonlyMap<string, string>): FileAction {
  const lines = [...redirects].map(([from, to]) => `${JSON.stringify(from)}: ${JSON.stringify(to)}\n`)
  return { action, path: file, content: Buffer.from(lines.join('')) }
}

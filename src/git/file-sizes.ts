import type { Oid } from './parse.ts'
import { records, type Workplace } from './run.ts'

/** Every file of a commit with its size in bytes, as git comes to them; no links and no submodules. */
export async function* fileSizes(
  repository: Workplace,
  commit: Oid,
): AsyncGenerator<{ readonly path: string; readonly size: number }> {
  const flags = ['-r', '-z', '-l', '--full-tree'] as const
  for await (const record of records(repository, 'ls-tree', 0, { flags: [...flags], revs: [commit] })) {
    // <mode> <type> <oid> <size, padded>\t<path>
    const tab = record.indexOf(0x09)
    const [mode, type, , size] = record.subarray(0, tab).toString('latin1').split(/ +/)
    if (type !== 'blob' || mode === '120000') continue
    yield { path: record.subarray(tab + 1).toString(), size: Number(size) }
  }
}

import { open, readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Workplace } from './run.ts'

/** How a repository is kept on disk. Sizes in bytes. */
export interface RepositoryHealth {
  readonly size: number
  readonly references: {
    readonly loose: number
    readonly packedSize: number
    readonly backend: 'files' | 'reftable'
  }
  readonly objects: {
    readonly size: number
    /** Of what no ref reached when packs were last put together, and has lain for long. */
    readonly staleSize: number
    readonly keptSize: number
    readonly packs: number
    readonly reverseIndexes: number
    readonly cruftPacks: number
    readonly keptPacks: number
    readonly loose: number
    readonly staleLoose: number
    /** Files among the loose objects that are none. */
    readonly garbage: number
  }
  readonly commitGraph: {
    readonly layers: number
    readonly bloomFilters: boolean
    readonly generations: boolean
    readonly generationOverflow: boolean
  }
  readonly bitmap: Bitmap | undefined
  readonly multiPackIndex: { readonly version: number; readonly packs: number } | undefined
  readonly multiPackBitmap: Bitmap | undefined
}

interface Bitmap {
  readonly version: number
  readonly hashCache: boolean
  readonly lookupTable: boolean
}

interface Found {
  /** Below the repository. */
  readonly name: string
  readonly size: number
  readonly modified: number
}

/** Milliseconds after which git itself takes an object that nobody reaches for garbage. */
const staleAfter = 14 * 24 * 3600_000

/** Looks at the files of a repository; what comes or goes meanwhile may be counted or not. */
export async function repositoryHealth({ path: place }: Workplace): Promise<RepositoryHealth> {
  const files = await filesOf(place)
  const named = (pattern: RegExp): Found[] => files.filter(({ name }) => pattern.test(name))
  const packs = named(/^objects\/pack\/pack-[0-9a-f]+\.pack$/)
  const marked = (ending: string): Found[] => {
    const names = new Set(files.map(({ name }) => name))
    return packs.filter(({ name }) => names.has(name.replace(/pack$/, ending)))
  }
  const loose = named(/^objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/)
  const staleLoose = loose.filter(({ modified }) => modified < Date.now() - staleAfter)
  const cruft = marked('mtimes')
  const kept = marked('keep')
  const first = (found: readonly Found[]): string | undefined => found[0] && path.join(place, found[0].name)
  return {
    size: sizeOf(files),
    references: {
      loose: named(/^refs\/./).length,
      packedSize: sizeOf(named(/^packed-refs$/)),
      backend: named(/^reftable\//).length > 0 ? 'reftable' : 'files',
    },
    objects: {
      size: sizeOf(packs) + sizeOf(loose),
      staleSize: sizeOf(cruft) + sizeOf(staleLoose),
      keptSize: sizeOf(kept),
      packs: packs.length,
      reverseIndexes: named(/^objects\/pack\/pack-[0-9a-f]+\.rev$/).length,
      cruftPacks: cruft.length,
      keptPacks: kept.length,
      loose: loose.length,
      staleLoose: staleLoose.length,
      garbage: named(/^objects\/[0-9a-f]{2}\//).length - loose.length,
    },
    commitGraph: await commitGraph(place, files),
    bitmap: await bitmap(first(named(/^objects\/pack\/pack-[0-9a-f]+\.bitmap$/))),
    multiPackIndex: await multiPackIndex(first(named(/^objects\/pack\/multi-pack-index$/))),
    multiPackBitmap: await bitmap(first(named(/^objects\/pack\/multi-pack-index-[0-9a-f]+\.bitmap$/))),
  }
}

function sizeOf(files: readonly Found[]): number {
  return files.reduce((sum, { size }) => sum + size, 0)
}

async function filesOf(place: string): Promise<Found[]> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true })
  const found: Found[] = []
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    const facts = await stat(file).catch(() => undefined)
    if (facts === undefined) continue
    found.push({ name: path.relative(place, file), size: facts.size, modified: facts.mtimeMs })
  }
  return found
}

/** One file, or a chain of them. */
async function commitGraph(place: string, files: readonly Found[]): Promise<RepositoryHealth['commitGraph']> {
  const single = files.some(({ name }) => name === 'objects/info/commit-graph')
  const folder = path.join(place, 'objects/info/commit-graphs')
  const chain = await readFile(path.join(folder, 'commit-graph-chain'), 'latin1').catch(() => '')
  const layers = chain.split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line))
  const graphs = single
    ? [path.join(place, 'objects/info/commit-graph')]
    : layers.map((hash) => path.join(folder, `graph-${hash}.graph`))
  const chunks = (await Promise.all(graphs.map(chunksOf))).map((names) => new Set(names))
  const every = (name: string): boolean => chunks.length > 0 && chunks.every((names) => names.has(name))
  return {
    layers: single ? 0 : layers.length,
    bloomFilters: every('BIDX'),
    generations: every('GDA2'),
    generationOverflow: chunks.some((names) => names.has('GDO2')),
  }
}

/** Names of the parts of a commit graph: behind eight bytes a table of twelve for each. */
async function chunksOf(file: string): Promise<string[]> {
  const head = await readHead(file, 8 + 12 * 32)
  if (head?.subarray(0, 4).toString('latin1') !== 'CGPH') return []
  const count = Math.min(head[6] ?? 0, 32)
  return Array.from({ length: count }, (_, at) => head.subarray(8 + 12 * at, 12 + 12 * at).toString('latin1'))
}

async function bitmap(file: string | undefined): Promise<Bitmap | undefined> {
  const head = file === undefined ? undefined : await readHead(file, 8)
  if (head === undefined || head.length < 8 || head.subarray(0, 4).toString('latin1') !== 'BITM')
    return undefined
  const flags = head.readUInt16BE(6)
  return {
    version: head.readUInt16BE(4),
    hashCache: (flags & 0x4) !== 0,
    lookupTable: (flags & 0x10) !== 0,
  }
}

async function multiPackIndex(file: string | undefined): Promise<RepositoryHealth['multiPackIndex']> {
  const head = file === undefined ? undefined : await readHead(file, 12)
  if (head === undefined || head.length < 12 || head.subarray(0, 4).toString('latin1') !== 'MIDX')
    return undefined
  return { version: head[4]!, packs: head.readUInt32BE(8) }
}

async function readHead(file: string, bytes: number): Promise<Buffer | undefined> {
  try {
    await using handle = await open(file)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.subarray(0, bytesRead)
  } catch {
    // Put together with others in this moment.
    return undefined
  }
}

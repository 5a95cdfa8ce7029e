import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Oid } from './parse.ts'
import { pump } from './pump.ts'
import { keepReason } from './quarantine.ts'
import { start, type GitProcess, type Workplace } from './run.ts'

export interface IngestOptions {
  /** Bytes; larger packs are refused as `too-large`. */
  readonly maxSize?: number | undefined
  readonly shallow?: readonly Oid[]
  /** What git says while it works, for the user's terminal. */
  readonly onProgress?: (chunk: Buffer) => void
  readonly signal?: AbortSignal | undefined
}

export type IngestResult =
  | { readonly ok: true; readonly bytes: number }
  /** Git has refused the pack; `said` may name paths of this machine. */
  | { readonly ok: false; readonly reason: string; readonly said: string }

/** As in git: fewer objects are stored one by one, since many small packs make reading slow. */
const unpackLimit = 100

/** Checks that old, harmless tools fail; histories with such objects are common and must be able to move in. */
const leniency = 'badTimezone=ignore,missingSpaceBeforeDate=ignore,zeroPaddedFilemode=ignore'

/**
 * Lets git check a pack and store its objects in the quarantine of `place`. `first` are the 12 bytes of the pack's
 * header, `rest` what follows; after the pack nothing more is read.
 */
export async function ingestPack(
  place: Workplace & { readonly quarantine: string },
  first: Buffer,
  rest: AsyncIterator<Buffer, unknown, undefined>,
  options: IngestOptions = {},
): Promise<IngestResult> {
  const objects = packObjects(first)
  if (typeof objects === 'string') return { ok: false, reason: objects, said: '' }
  const shallowFile = join(place.quarantine, 'tmp_shallow')
  const shallow = options.shallow ?? []
  if (shallow.length > 0) await writeFile(shallowFile, shallow.map((oid) => `${oid}\n`).join(''))
  try {
    const git = startIngest(place, objects, shallow.length > 0 ? shallowFile : undefined, options)
    git.stdout.resume()
    git.stdin.write(first)
    const bytes = await pumpOrKill(rest, git)
    const exitCode = await git.exit
    if (exitCode === 0) return { ok: true, bytes: bytes + first.length }
    return {
      ok: false,
      reason: `${objects < unpackLimit ? 'unpack-objects' : 'index-pack'} abnormal exit`,
      said: git.stderr(),
    }
  } finally {
    if (shallow.length > 0) await rm(shallowFile, { force: true })
  }
}

async function pumpOrKill(rest: AsyncIterator<Buffer, unknown, undefined>, git: GitProcess): Promise<number> {
  try {
    return await pump(rest, git.stdin, git.exit)
  } catch (error) {
    git.kill()
    await git.exit.catch(() => undefined)
    throw error
  }
}

function startIngest(
  place: Workplace,
  objects: number,
  shallowFile: string | undefined,
  { maxSize, onProgress, signal }: IngestOptions,
): GitProcess {
  const limit = maxSize === undefined ? [] : ([`--max-input-size=${maxSize}`] as const)
  const common = { signal, shallowFile, ...(onProgress === undefined ? {} : { onStderr: onProgress }) }
  if (objects < unpackLimit) {
    return start(place, 'unpack-objects', { flags: ['-q', `--strict=${leniency}`, ...limit], ...common })
  }
  const progress = onProgress === undefined ? [] : (['--show-resolving-progress'] as const)
  return start(place, 'index-pack', {
    flags: ['--stdin', '--fix-thin', `--strict=${leniency}`, `--keep=${keepReason}`, ...progress, ...limit],
    ...common,
  })
}

/** The number of objects that the header announces, or what is wrong with it, in git's words. */
function packObjects(header: Buffer): number | string {
  if (header.length < 12) return 'eof before pack header was fully read'
  if (header.toString('latin1', 0, 4) !== 'PACK') return 'protocol error (pack signature mismatch detected)'
  const version = header.readUInt32BE(4)
  if (version !== 2 && version !== 3) return 'protocol error (pack version unsupported)'
  return header.readUInt32BE(8)
}

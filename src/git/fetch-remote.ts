import { Readable } from 'node:stream'
import { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import { ingestPack } from './ingest-pack.ts'
import { isConnected } from './is-connected.ts'
import { objectName } from './object-readers.ts'
import type { Oid } from './parse.ts'
import { flushPkt, pkt } from './pkt-line.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import { bandOfData } from './remote-bands.ts'
import { readRemoteRefs, RemoteRefusal, type RemoteRefs, type RemoteWire } from './remote-refs.ts'
import type { Repository } from './repository.ts'
import { run } from './run.ts'

export interface RemoteFetch {
  readonly remote: RemoteRefs
  /** With what was fetched; undefined: everything was here. The caller disposes of it. */
  readonly quarantine: Quarantine | undefined
}

/** Commits that are named as known; more would only make the question long. */
const mostKnown = 1000

/**
 * Fetches from a repository elsewhere what `choose` names of it, with all that belongs to that, into a quarantine.
 * Throws `RemoteRefusal` where nothing is given, `too-large` past `maxSize` (bytes).
 */
export async function fetchRemote(
  repository: Repository,
  wire: RemoteWire,
  choose: (remote: RemoteRefs) => readonly Oid[],
  { signal, maxSize }: { readonly signal: AbortSignal; readonly maxSize: number | undefined },
): Promise<RemoteFetch> {
  const remote = await wire.greet('git-upload-pack', readRemoteRefs)
  if (remote.capabilities.has('object-format=sha256')) {
    throw new RemoteRefusal('the other repository names objects in another way (SHA-256)')
  }
  const chosen = [...new Set(choose(remote))]
  const found = await Promise.all(chosen.map((oid) => repository.readers.header(repository, objectName(oid))))
  const lacking = chosen.filter((_, at) => found[at] === undefined)
  if (lacking.length === 0 && (await isConnected(repository, chosen, signal))) {
    return { remote, quarantine: undefined }
  }
  if (!remote.capabilities.has('side-band-64k')) {
    throw new GitError('protocol', 'the other side is too old')
  }
  const question = ask(chosen, await knownCommits(repository, signal), remote)
  const quarantine = await openQuarantine(repository)
  try {
    await wire.ask('git-upload-pack', question, (answer) => take(answer, quarantine, { signal, maxSize }))
    if (!(await isConnected(quarantine.repository, chosen, signal))) {
      throw new GitError('protocol', 'objects are missing in what the other side sent')
    }
    return { remote, quarantine }
  } catch (error) {
    await quarantine[Symbol.asyncDispose]()
    throw error
  }
}

async function knownCommits(repository: Repository, signal: AbortSignal): Promise<string[]> {
  const { stdout } = await run(repository, 'rev-list', {
    flags: ['--branches', '--tags', `--max-count=${mostKnown}`],
    signal,
  })
  return stdout.toString('latin1').split('\n').filter(Boolean)
}

/** All in one round: what is wanted, what is known, and that it may begin. */
async function* ask(
  wanted: readonly Oid[],
  known: readonly string[],
  { capabilities }: RemoteRefs,
): AsyncGenerator<Buffer> {
  const spoken = ['side-band-64k', 'thin-pack', 'ofs-delta', 'no-progress'].filter((one) =>
    capabilities.has(one),
  )
  const said = [...spoken, 'agent=guildhall'].join(' ')
  yield Buffer.concat(wanted.map((oid, at) => pkt(`want ${oid}${at === 0 ? ` ${said}` : ''}\n`)))
  yield flushPkt
  yield Buffer.concat([...known.map((oid) => pkt(`have ${oid}\n`)), pkt('done\n')])
}

async function take(
  answer: ByteReader,
  quarantine: Quarantine,
  options: { readonly signal: AbortSignal; readonly maxSize: number | undefined },
): Promise<void> {
  let line = await answer.pkt()
  // Whether something is common: the pack shows it.
  while (Buffer.isBuffer(line) && /^(?:ACK|NAK)/.test(line.toString('latin1', 0, 3)))
    line = await answer.pkt()
  if (Buffer.isBuffer(line) && line.toString('latin1', 0, 4) === 'ERR ') {
    throw new RemoteRefusal(line.toString('utf8', 4).trim())
  }
  if (!Buffer.isBuffer(line)) throw new GitError('protocol', 'the other side sends nothing')
  const reader = new ByteReader(Readable.from(bandOfData(answer, () => undefined, line)))
  const place = { ...quarantine.repository, quarantine: quarantine.repository.quarantine! }
  const taken = await ingestPack(place, await reader.read(12), reader.rest(), options)
  if (taken.ok) return
  throw new GitError(
    /exceeds maximum allowed size/.test(taken.said) ? 'too-large' : 'bad-objects',
    taken.reason,
    {
      stderr: taken.said,
    },
  )
}

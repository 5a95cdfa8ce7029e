import type { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import { objectName } from './object-readers.ts'
import { isZero, type Oid } from './parse.ts'
import { flushPkt, parsePkts, pkt, pktText } from './pkt-line.ts'
import type { RefUpdate } from './ref-update.ts'
import { bandOfData, Words } from './remote-bands.ts'
import { readRemoteRefs, RemoteRefusal, type RemoteRefs, type RemoteWire } from './remote-refs.ts'
import type { Repository } from './repository.ts'
import { failure, start } from './run.ts'

export interface RemotePush {
  /** What moved there. */
  readonly moved: readonly RefUpdate[]
  /** What did not, and why in the other side's words. */
  readonly refused: readonly { readonly update: RefUpdate; readonly reason: string }[]
  /** What it said besides. */
  readonly words: string
}

/** Bytes of a report. */
const longestReport = 16 * 1024 * 1024
/** Objects that only the other side names, and that are looked for here. */
const mostLookedFor = 1000

const nothing: RemotePush = { moved: [], refused: [], words: '' }

/**
 * Pushes to a repository elsewhere. `choose` says what, once it is known what is there. What the other side has of ours
 * is not sent again. Throws `RemoteRefusal` where it takes nothing at all.
 */
export async function pushRemote(
  repository: Repository,
  wire: RemoteWire,
  choose: (remote: RemoteRefs) => Promise<readonly RefUpdate[]>,
  signal: AbortSignal,
): Promise<RemotePush> {
  const remote = await wire.greet('git-receive-pack', readRemoteRefs)
  if (remote.capabilities.has('object-format=sha256')) {
    throw new RemoteRefusal('the other repository names objects in another way (SHA-256)')
  }
  const mayDelete = remote.capabilities.has('delete-refs')
  const updates = (await choose(remote)).filter(({ newOid }) => mayDelete || !isZero(newOid))
  if (updates.length === 0) return nothing
  const known = await knownOf(repository, remote, updates)
  const spoken = ['report-status', 'side-band-64k'].filter((one) => remote.capabilities.has(one))
  const question = push(repository, { updates, known, spoken, remote, signal })
  return wire.ask('git-receive-pack', question, (answer) => readReport(answer, updates, spoken))
}

/** Of what the other side has, what is here too. */
async function knownOf(
  repository: Repository,
  { oids }: RemoteRefs,
  updates: readonly RefUpdate[],
): Promise<Oid[]> {
  const sent = new Set(updates.map(({ newOid }) => newOid))
  const asked = [...oids].filter((oid) => !sent.has(oid)).slice(0, mostLookedFor)
  const found = await Promise.all(asked.map((oid) => repository.readers.header(repository, objectName(oid))))
  return asked.filter((_, at) => found[at] !== undefined)
}

async function* push(
  repository: Repository,
  {
    updates,
    known,
    spoken,
    remote,
    signal,
  }: {
    readonly updates: readonly RefUpdate[]
    readonly known: readonly Oid[]
    readonly spoken: readonly string[]
    readonly remote: RemoteRefs
    readonly signal: AbortSignal
  },
): AsyncGenerator<Buffer> {
  const capabilities = [...spoken, 'agent=guildhall'].join(' ')
  const commands = updates.map(({ ref, oldOid, newOid }, at) =>
    pkt(`${oldOid} ${newOid} ${ref}${at === 0 ? `\0${capabilities}` : ''}`),
  )
  yield Buffer.concat([...commands, flushPkt])
  const heads = [...new Set(updates.map(({ newOid }) => newOid).filter((oid) => !isZero(oid)))]
  // Where refs are only taken away there is no pack.
  if (heads.length === 0) return
  const git = start(repository, 'pack-objects', {
    flags: [
      '--revs',
      '--stdout',
      '-q',
      ...(remote.capabilities.has('ofs-delta') ? (['--delta-base-offset'] as const) : []),
    ],
    signal,
  })
  try {
    git.stdin.end([...heads, ...known.map((oid) => `^${oid}`)].map((line) => `${line}\n`).join(''))
    yield* git.stdout as AsyncIterable<Buffer>
    const exitCode = await git.exit
    if (exitCode !== 0) throw failure('pack-objects', exitCode, git.stderr())
  } finally {
    git.kill()
  }
}

async function readReport(
  answer: ByteReader,
  updates: readonly RefUpdate[],
  spoken: readonly string[],
): Promise<RemotePush> {
  const words = new Words()
  const lines = spoken.includes('side-band-64k')
    ? await linesInBands(answer, words)
    : spoken.includes('report-status')
      ? await plainLines(answer)
      : undefined
  if (lines === undefined) return { moved: updates, refused: [], words: '' }
  return { ...judged(lines, updates), words: words.text }
}

async function linesInBands(answer: ByteReader, words: Words): Promise<string[]> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of bandOfData(answer, words.add)) {
    size += chunk.length
    if (size > longestReport) throw tooLong()
    chunks.push(chunk)
  }
  const { pkts } = parsePkts(Buffer.concat(chunks))
  return pkts.flatMap((line) => (typeof line === 'string' ? [] : [pktText(line)]))
}

async function plainLines(answer: ByteReader): Promise<string[]> {
  const lines: string[] = []
  let size = 0
  for (let line = await answer.pkt(); line !== undefined && line !== 'flush'; line = await answer.pkt()) {
    if (typeof line === 'string') throw new GitError('protocol', 'bad mark')
    size += line.length
    if (size > longestReport) throw tooLong()
    lines.push(pktText(line))
  }
  return lines
}

const tooLong = () => new GitError('too-large', 'the other side says too much')

function judged(lines: readonly string[], updates: readonly RefUpdate[]): Omit<RemotePush, 'words'> {
  const unpacked = lines.find((line) => line.startsWith('unpack '))
  if (unpacked === undefined) throw new GitError('protocol', 'the other side did not say what became of it')
  if (unpacked !== 'unpack ok') throw new RemoteRefusal(unpacked.slice('unpack '.length))
  const taken = new Set(lines.flatMap((line) => (line.startsWith('ok ') ? [line.slice(3)] : [])))
  const reasons = new Map(
    lines.flatMap((line) => {
      const [, ref, reason] = /^ng (\S+) ?(.*)$/s.exec(line) ?? []
      return ref === undefined ? [] : [[ref, reason ?? ''] as const]
    }),
  )
  return {
    moved: updates.filter(({ ref }) => taken.has(ref)),
    refused: updates
      .filter(({ ref }) => !taken.has(ref))
      .map((update) => ({ update, reason: reasons.get(update.ref) ?? 'nothing was said of it' })),
  }
}

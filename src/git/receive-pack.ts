import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import { ingestPack } from './ingest-pack.ts'
import { isConnected } from './is-connected.ts'
import type { Oid } from './parse.ts'
import { flushPkt, pkt } from './pkt-line.ts'
import { readPushRequest, type PushRequest } from './push-request.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import type { RefGuard, RefJournal, Rejection, UpdateOutcome } from './ref-update.ts'
import type { Repository } from './repository.ts'
import { Sideband } from './sideband.ts'
import { updateRefs } from './update-refs.ts'

export interface ReceivePackOptions {
  readonly guard: RefGuard
  readonly journal: RefJournal
  /** Stands before every refusal of the guard: `Guildhall: `. */
  readonly messagePrefix?: string
  /** Bytes. */
  readonly maxPackSize?: number | undefined
  /** Lines for the user once refs have moved, such as where to open a merge request. Its failure fails no push. */
  readonly afterwards?: (outcome: UpdateOutcome, pushOptions: readonly string[]) => Promise<readonly string[]>
  /** Stops the push as long as nothing has moved. */
  readonly signal?: AbortSignal | undefined
}

export interface PushResult extends UpdateOutcome {
  readonly pushOptions: readonly string[]
  readonly packBytes: number
  /** What went wrong with the push as a whole, for the log; the client was told if it matters to it. */
  readonly problem: string | undefined
}

const nothing: PushResult = { applied: [], rejected: [], pushOptions: [], packBytes: 0, problem: undefined }

/**
 * A refused client may go on sending: many read our answer only when they are done. So much we listen to, in bytes,
 * and so long to silence, in milliseconds: some never close their side.
 */
const politeness = { bytes: 256 * 1024 * 1024, silence: 30_000 }

/**
 * Answers a push, after the advertisement. `input` is the decoded body; `output` is written to and left open.
 * Whatever the client does wrong it is told, and this resolves. Failures of our own (of the guard and the journal
 * too) reject, after the client was told that there was one.
 */
export async function receivePack(
  repository: Repository,
  input: Readable,
  output: Writable,
  options: ReceivePackOptions,
): Promise<PushResult> {
  const reader = new ByteReader(input)
  let request: PushRequest | undefined
  try {
    request = await readPushRequest(reader)
  } catch (error) {
    using channel = new Sideband(output, false)
    await channel.fatal(error instanceof GitError ? error.message : 'the request could not be read')
    return { ...nothing, problem: error instanceof Error ? error.message : 'unreadable' }
  }
  if (request === undefined) return nothing

  using channel = new Sideband(output, request.capabilities.has('side-band-64k'))
  try {
    const result = await push(repository, reader, request, channel, options)
    await channel.end()
    if (request.hasPack && result.packBytes === 0) await listenOn(reader)
    return result
  } catch (error) {
    const clientGone = error instanceof GitError && error.failure === 'protocol'
    await channel.fatal(clientGone ? error.message : 'internal error')
    await channel.end()
    if (clientGone) return { ...nothing, problem: error.message }
    throw error
  }
}

async function push(
  repository: Repository,
  reader: ByteReader,
  request: PushRequest,
  channel: Sideband,
  options: ReceivePackOptions,
): Promise<PushResult> {
  const { pushOptions } = request
  let packBytes = 0
  await using quarantine = request.hasPack ? await openQuarantine(repository) : undefined
  if (quarantine !== undefined) {
    const taken = await takeIn(quarantine, reader, request, channel, options)
    if (typeof taken !== 'number') {
      const rejected = request.updates.map((update): Rejection => ({
        update,
        reason: 'bad-object',
        message: taken.forRefs,
      }))
      await report(channel, request, taken.unpack, { applied: [], rejected })
      return { ...nothing, rejected, pushOptions, problem: taken.problem }
    }
    packBytes = taken
  }
  channel.keepAlive()
  const outcome = await updateRefs(repository, request.updates, {
    from: 'client',
    guard: options.guard,
    journal: options.journal,
    atomic: request.capabilities.has('atomic'),
    quarantine,
    pushOptions,
    signal: options.signal,
  })
  for (const message of refusals(outcome))
    await channel.message(withPrefix(message, options.messagePrefix ?? ''))
  await report(channel, request, 'ok', outcome)
  let problem: string | undefined
  if (outcome.applied.length > 0 && options.afterwards !== undefined) {
    const lines = await options.afterwards(outcome, pushOptions).catch((error: unknown): string[] => {
      problem = error instanceof Error ? error.message : 'no lines for the user'
      return []
    })
    if (lines.length > 0) await channel.message(lines.map((line) => `${line}\n`).join(''))
  }
  return { ...outcome, pushOptions, packBytes, problem }
}

interface NotTaken {
  /** For the line `unpack`, and for each ref. */
  readonly unpack: string
  readonly forRefs: string
  readonly problem: string
}

/** Brings the pack into the quarantine and looks whether it is whole; the pack's bytes, or what is wrong with it. */
async function takeIn(
  quarantine: Quarantine,
  reader: ByteReader,
  request: PushRequest,
  channel: Sideband,
  { maxPackSize, signal }: ReceivePackOptions,
): Promise<number | NotTaken> {
  const { repository } = quarantine
  const quiet = request.capabilities.has('quiet')
  const hide = (chunk: Buffer) => withoutPaths(chunk.toString(), repository)
  const place = { ...repository, quarantine: repository.quarantine ?? '' }
  const header = await reader.read(12)
  const rest = reader.rest()
  const result = await ingestPack(place, header, rest, {
    maxSize: maxPackSize,
    shallow: request.shallow,
    signal,
    ...(quiet ? {} : { onProgress: (chunk: Buffer) => void channel.message(hide(chunk)) }),
  })
  channel.keepAlive()
  if (!result.ok) {
    if (quiet) await channel.message(withoutPaths(result.said, repository))
    return { unpack: result.reason, forRefs: 'unpacker error', problem: result.said || result.reason }
  }
  const heads: Oid[] = request.updates.map(({ newOid }) => newOid)
  if (await isConnected(repository, heads, signal)) return result.bytes
  const forRefs = request.shallow.length > 0 ? 'shallow update not allowed' : 'missing necessary objects'
  return { unpack: 'ok', forRefs, problem: forRefs }
}

async function listenOn(reader: ByteReader): Promise<void> {
  const chunks = reader.rest()
  let left = politeness.bytes
  while (left > 0) {
    const silence = new AbortController()
    const next = await Promise.race([
      chunks.next().catch(() => undefined),
      sleep(politeness.silence, undefined, { signal: silence.signal }).catch(() => undefined),
    ])
    silence.abort()
    if (next === undefined || next.done === true) return
    left -= next.value.length
  }
}

/** What git says to the client must not tell where things lie on this machine. */
function withoutPaths(text: string, { path, quarantine }: Repository): string {
  return text.replaceAll(quarantine ?? path, '').replaceAll(path, '')
}

function refusals({ rejected }: UpdateOutcome): Set<string> {
  return new Set(rejected.filter(({ reason }) => reason === 'refused').map(({ message }) => message))
}

function withPrefix(message: string, prefix: string): string {
  return message
    .split('\n')
    .map((line) => `${prefix}${line}\n`)
    .join('')
}

/** Words that clients show in brackets behind `! [remote rejected] main -> main`. */
function wireReason({ reason, message }: Rejection): string {
  switch (reason) {
    case 'refused':
    case 'declined':
      return 'pre-receive hook declined'
    case 'stale':
    case 'conflict':
    case 'failed':
      return 'failed to update ref'
    default:
      return message
  }
}

async function report(
  channel: Sideband,
  { capabilities, updates }: PushRequest,
  unpack: string,
  outcome: UpdateOutcome,
): Promise<void> {
  // Version 2 differs only for refs that a server renames, which we never do.
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return
  const rejected = new Map(outcome.rejected.map((rejection) => [rejection.update, rejection]))
  const lines = updates.map((update) => {
    const rejection = rejected.get(update)
    return rejection === undefined ? `ok ${update.ref}\n` : `ng ${update.ref} ${wireReason(rejection)}\n`
  })
  await channel.data(Buffer.concat([pkt(`unpack ${unpack}\n`), ...lines.map((line) => pkt(line)), flushPkt]))
}

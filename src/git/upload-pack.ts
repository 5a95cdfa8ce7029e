import type { Readable, Writable } from 'node:stream'
import type { ProtocolVersion } from './advertise.ts'
import { ByteReader } from './byte-reader.ts'
import { hidden } from './commands.ts'
import { GitError } from './git-error.ts'
import { answerLsRefs, parseLsRefs } from './ls-refs.ts'
import { delimiterPkt, flushPkt, pkt, pktText, type Pkt } from './pkt-line.ts'
import { pump } from './pump.ts'
import type { RefSnapshot } from './ref-cache.ts'
import { start, type Workplace } from './run.ts'

export interface UploadPackOptions {
  readonly version: ProtocolVersion
  /** HTTP: one request, one answer. Otherwise the whole conversation runs over the two streams, git's greeting first. */
  readonly statelessRpc: boolean
  /** Given, a question for the refs alone (protocol 2 over HTTP) is answered without starting git. */
  readonly refs?: (() => Promise<RefSnapshot>) | undefined
  readonly signal?: AbortSignal | undefined
}

/** More than this is no question for refs that we answer ourselves. */
const maxQuestion = 1024 * 1024

export interface UploadOutcome {
  /** It was a question for refs only, which needed no git. */
  readonly refsOnly: boolean
  /** The client went away before it had everything. */
  readonly hungUp: boolean
  /** What git had to complain of, for the log; it has told the client in its own way. */
  readonly complaint: string | undefined
}

/**
 * Answers a fetch. `input` is the decoded body; `output` is written to with back-pressure and left open.
 * Rejects only when git could not be run.
 */
export async function uploadPack(
  place: Workplace,
  input: Readable,
  output: Writable,
  options: UploadPackOptions,
): Promise<UploadOutcome> {
  const reader = new ByteReader(input)
  let before: Buffer[] = []
  if (options.version === 2 && options.statelessRpc && options.refs !== undefined) {
    const question = await readQuestion(reader).catch(badLine)
    const answer = Array.isArray(question) ? await lsRefs(question, options.refs) : question
    if (answer !== undefined) {
      output.write(answer)
      return { refsOnly: true, hungUp: false, complaint: undefined }
    }
    before = question as Buffer[]
  }
  const git = start(place, 'upload-pack', {
    flags: ['--strict', ...(options.statelessRpc ? (['--stateless-rpc'] as const) : [])],
    protocol: `version=${options.version}`,
    config: hidden,
    signal: options.signal,
  })
  const client = { hungUp: false }
  const hangUp = () => {
    client.hungUp = true
    git.kill()
  }
  const sending = pump(concatenated(before, reader.rest()), git.stdin, git.exit).catch(hangUp)
  await git.stdout.sendTo(output).catch(hangUp)
  const exitCode = await git.exit.catch((error: unknown) => {
    if (client.hungUp && options.signal?.aborted !== true) return 0
    throw error
  })
  // A client may stop reading our answer, or end its question early: then there is nothing more to wait for.
  if (!client.hungUp) await Promise.race([sending, git.exit])
  return { refsOnly: false, ...client, complaint: exitCode === 0 ? undefined : git.stderr() }
}

function badLine(error: unknown): Buffer {
  if (error instanceof GitError && error.failure === 'protocol') return pkt(`ERR ${error.message}`)
  throw error
}

/** The lines of the first command up to its end, or up to where it is clear that it is not for us. */
async function readQuestion(reader: ByteReader): Promise<Buffer[]> {
  const raw: Buffer[] = []
  let size = 0
  for (let line = await reader.pkt(); line !== undefined; line = await reader.pkt()) {
    raw.push(encoded(line))
    size += raw.at(-1)!.length
    if (line === 'flush' || size > maxQuestion) break
    if (raw.length === 1 && (!Buffer.isBuffer(line) || pktText(line) !== 'command=ls-refs')) break
  }
  return raw
}

function encoded(line: Pkt): Buffer {
  if (Buffer.isBuffer(line)) return pkt(line)
  return line === 'flush' ? flushPkt : line === 'delimiter' ? delimiterPkt : Buffer.from('0002')
}

async function lsRefs(raw: readonly Buffer[], refs: () => Promise<RefSnapshot>): Promise<Buffer | undefined> {
  if (raw.length < 2 || raw.at(-1) !== flushPkt || pktText(raw[0]!.subarray(4)) !== 'command=ls-refs')
    return undefined
  const start = raw.indexOf(delimiterPkt)
  const capabilities = raw.slice(1, start < 0 ? -1 : start).map((line) => pktText(line.subarray(4)))
  const known = /^(?:agent|session-id|server-option)=|^object-format=sha1$/
  if (!capabilities.every((line) => known.test(line))) return undefined
  const asked = parseLsRefs(
    start < 0 ? [] : raw.slice(start + 1, -1).map((line) => pktText(line.subarray(4))),
  )
  return asked === undefined ? undefined : answerLsRefs(await refs(), asked)
}

async function* concatenated(
  first: readonly Buffer[],
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield* first
  yield* rest
}

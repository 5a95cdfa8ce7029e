import type { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import { isZero, parseOid, type Oid, type RefName } from './parse.ts'
import { pktText } from './pkt-line.ts'
import type { RefUpdate } from './ref-update.ts'

/** What a client asks for before it sends its pack (gitprotocol-pack(5), reference update request). */
export interface PushRequest {
  /** The names are as the client sent them: not checked yet. */
  readonly updates: readonly RefUpdate[]
  readonly capabilities: ReadonlySet<string>
  readonly pushOptions: readonly string[]
  /** Where the client's history is cut off. */
  readonly shallow: readonly Oid[]
  /** A push that only deletes sends no pack. */
  readonly hasPack: boolean
}

/** Bytes of commands, and of push options: room for some 300,000 refs. */
const maxRequest = 32 * 1024 * 1024
const maxOptions = 1024 * 1024

/** Reads the request up to the pack; `undefined` when the client asks for nothing (a probe, or a change of mind). */
export async function readPushRequest(reader: ByteReader): Promise<PushRequest | undefined> {
  const updates: RefUpdate[] = []
  const shallow: Oid[] = []
  let capabilities: ReadonlySet<string> = new Set()
  for await (const line of section(reader, maxRequest)) {
    const nul = line.indexOf(0)
    const command = nul < 0 ? line : line.subarray(0, nul)
    if (nul >= 0 && updates.length === 0) {
      capabilities = new Set(
        pktText(line.subarray(nul + 1))
          .split(' ')
          .filter(Boolean),
      )
    }
    if (command.toString('latin1', 0, 8) === 'shallow ') {
      shallow.push(parseOid(pktText(command.subarray(8))) ?? malformed('a shallow line has no object id'))
    } else {
      updates.push(parseCommand(command))
    }
  }
  if (updates.length === 0) return undefined
  const format = [...capabilities].find((text) => text.startsWith('object-format='))
  if (format !== undefined && format !== 'object-format=sha1') malformed('this repository uses sha1')

  const pushOptions: string[] = []
  if (capabilities.has('push-options')) {
    for await (const line of section(reader, maxOptions)) pushOptions.push(pktText(line))
  }
  const hasPack = updates.some(({ newOid }) => !isZero(newOid))
  return { updates, capabilities, pushOptions, shallow, hasPack }
}

async function* section(reader: ByteReader, limit: number): AsyncGenerator<Buffer, void, undefined> {
  let size = 0
  for (let line = await reader.pkt(); line !== 'flush'; line = await reader.pkt()) {
    if (line === undefined) {
      // Nothing at all is what a client sends that has changed its mind.
      if (size === 0) return
      malformed('the remote end hung up unexpectedly')
    }
    if (!Buffer.isBuffer(line)) malformed('a mark stands where a line should')
    size += line.length + 4
    if (size > limit) throw new GitError('too-large', 'too many commands in one push')
    yield line
  }
}

/** `old SP new SP ref`. A name that is no UTF-8 keeps the mark of it, which no valid name has. */
function parseCommand(line: Buffer): RefUpdate {
  const text = pktText(line)
  const oldOid = parseOid(text.slice(0, 40))
  const newOid = parseOid(text.slice(41, 81))
  const ref = text.slice(82)
  if (oldOid === undefined || newOid === undefined || text[40] !== ' ' || text[81] !== ' ' || ref === '') {
    malformed('expected old/new/ref')
  }
  // Checked by `updateRefs`, which answers for each ref by itself.
  return { ref: ref as RefName, oldOid, newOid }
}

function malformed(reason: string): never {
  throw new GitError('protocol', reason)
}

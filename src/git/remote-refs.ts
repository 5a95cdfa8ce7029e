import type { ByteReader } from './byte-reader.ts'
import type { Service } from './advertise.ts'
import { GitError } from './git-error.ts'
import { parseOid, parseRefName, type Oid, type RefName } from './parse.ts'
import { pktText } from './pkt-line.ts'

/**
 * A line to a repository elsewhere, over which the services of git are spoken in version 0 of their protocol, which
 * every server knows (gitprotocol-pack(5)). Who opens one says how: over HTTP each part is a request of its own.
 */
export interface RemoteWire extends AsyncDisposable {
  /** What the other side says first. */
  greet<Taken>(service: Service, take: (answer: ByteReader) => Promise<Taken>): Promise<Taken>
  /** Says something, and takes what is answered. Once, after the greeting. */
  ask<Taken>(
    service: Service,
    question: AsyncIterable<Buffer>,
    take: (answer: ByteReader) => Promise<Taken>,
  ): Promise<Taken>
}

/** The other side says no, in words of its own. They come from outside: nobody knows what they contain. */
export class RemoteRefusal extends Error {}

export interface RemoteRefs {
  /** Branches and tags. */
  readonly refs: ReadonlyMap<RefName, Oid>
  /** All other refs, such as hosts keep for the heads of requests. */
  readonly others: ReadonlyMap<RefName, Oid>
  /** Everything that it has, by id: also what it has of other refs. */
  readonly oids: ReadonlySet<Oid>
  /** The branch that its HEAD names, where it says so. */
  readonly head: string | undefined
  readonly capabilities: ReadonlySet<string>
}

/** Refs of one repository elsewhere, at most. */
const mostRefs = 1_000_000

/** Reads what a service says of the refs that there are. */
export async function readRemoteRefs(reader: ByteReader): Promise<RemoteRefs> {
  const refs = new Map<RefName, Oid>()
  const others = new Map<RefName, Oid>()
  const oids = new Set<Oid>()
  let capabilities: readonly string[] | undefined
  for (let line = await firstLine(reader); line !== 'flush'; line = await nextLine(reader)) {
    if (capabilities === undefined && line.startsWith('version ')) continue
    const [advertised = '', said] = line.split('\0', 2)
    capabilities ??= (said ?? '').split(' ').filter((word) => word !== '')
    const [id = '', name = ''] = advertised.split(' ', 2)
    const oid = parseOid(id)
    if (oid === undefined) {
      if (id === 'shallow') continue
      throw new GitError('protocol', 'the other side does not speak as git does')
    }
    if (name === 'capabilities^{}') continue
    if (oids.size >= mostRefs) throw new GitError('too-large', 'the other side has too many refs')
    oids.add(oid)
    const ref = parseRefName(name)
    if (ref !== undefined) (/^refs\/(?:heads|tags)\//.test(name) ? refs : others).set(ref, oid)
  }
  const pointed = capabilities?.find((one) => one.startsWith('symref=HEAD:'))
  return {
    refs,
    others,
    oids,
    head: pointed?.slice('symref=HEAD:'.length),
    capabilities: new Set(capabilities),
  }
}

/** Over HTTP the service is named before all else. */
async function firstLine(reader: ByteReader): Promise<string> {
  const line = await nextLine(reader)
  if (!line.startsWith('# service=')) return line
  if ((await nextLine(reader)) !== 'flush') throw new GitError('protocol', 'bad announcement')
  return nextLine(reader)
}

async function nextLine(reader: ByteReader): Promise<string> {
  const line = await reader.pkt()
  if (line === undefined) throw new GitError('protocol', 'the remote end hung up unexpectedly')
  if (line === 'flush') return line
  if (typeof line === 'string') throw new GitError('protocol', 'bad mark')
  const text = pktText(line)
  if (text.startsWith('ERR ')) throw new RemoteRefusal(text.slice(4))
  return text
}

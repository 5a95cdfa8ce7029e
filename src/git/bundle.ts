import { Readable } from 'node:stream'
import { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import { ingestPack } from './ingest-pack.ts'
import { isConnected } from './is-connected.ts'
import { parseOid, parseRefName, zeroOid, type Oid, type RefName } from './parse.ts'
import { flushPkt, pkt } from './pkt-line.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import type { RefsVersion } from './ref-cache.ts'
import type { RefUpdate } from './ref-update.ts'
import { listRefs } from './refs.ts'
import type { Repository } from './repository.ts'
import { failure, start } from './run.ts'

const signature = '# v2 git bundle\n'
const keepAround = 'refs/keep-around/'
/** Bytes of the list of refs in a bundle. */
const longestHead = 64 * 1024 * 1024

/** All branches and tags with their objects in one stream (gitformat-bundle(5)); undefined where there are none. */
export async function bundleOf(repository: Repository, version: RefsVersion): Promise<Readable | undefined> {
  const { refs } = await listRefs(repository, version)
  const wanted = refs.filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name))
  if (wanted.length === 0) return undefined
  const head = signature + wanted.map(({ oid, name }) => `${oid} ${name}\n`).join('') + '\n'
  return Readable.from(withPack(repository, head, [...new Set(wanted.map(({ oid }) => oid))]))
}

/**
 * The commits that a repository keeps beside its branches and tags, which belong to merge requests, without what the
 * branches and tags have; undefined where there are none.
 */
export async function bundleOfKept(
  repository: Repository,
  version: RefsVersion,
): Promise<Readable | undefined> {
  const { refs } = await listRefs(repository, version)
  const beside = refs.filter(({ name }) => /^refs\/(?:keep-around\/|merge-requests\/\d+\/head$)/.test(name))
  if (beside.length === 0) return undefined
  const oids = [...new Set(beside.map(({ oid }) => oid))]
  const known = [
    ...new Set(refs.filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name)).map(({ oid }) => oid)),
  ]
  const lines = [...known.map((oid) => `-${oid}\n`), ...oids.map((oid) => `${oid} ${keepAround}${oid}\n`)]
  const head = `${signature}${lines.join('')}\n`
  return Readable.from(withPack(repository, head, [...oids, ...known.map((oid) => `^${oid}`)]))
}

async function* withPack(
  repository: Repository,
  head: string,
  revs: readonly string[],
): AsyncGenerator<Buffer> {
  yield Buffer.from(head)
  const git = start(repository, 'pack-objects', {
    flags: ['--revs', '--stdout', '-q', '--delta-base-offset'],
  })
  try {
    git.stdin.end(revs.map((rev) => `${rev}\n`).join(''))
    yield* git.stdout as AsyncIterable<Buffer>
    const exitCode = await git.exit
    if (exitCode !== 0) throw failure('pack-objects', exitCode, git.stderr())
  } finally {
    git.kill()
  }
}

/**
 * What a client would send that pushes all a bundle has to an empty repository: it then comes in by the same door, and
 * is looked at in the same way. Throws `protocol` for what is no whole bundle. The branch `first` comes first.
 */
export async function pushOfBundle(
  bundle: Readable,
  first: string,
): Promise<{ readonly input: Readable; readonly refs: number }> {
  const reader = new ByteReader(bundle)
  const refs = await readHead(reader, whole)
  const ordered = refs.toSorted((one, other) => Number(other.name === first) - Number(one.name === first))
  const commands = ordered.map(({ oid, name }, index) =>
    pkt(`${zeroOid} ${oid} ${name}${index === 0 ? '\0report-status atomic' : ''}\n`),
  )
  const request = [...commands, flushPkt]
  async function* pushed(): AsyncGenerator<Buffer> {
    yield Buffer.concat(request)
    yield* reader.rest()
  }
  return { input: Readable.from(pushed()), refs: refs.length }
}

/** Commits that are taken from one bundle. */
const mostKept = 100_000

/**
 * Brings the commits of `bundleOfKept` into a quarantine, once they are known to be whole beside what is there. The
 * caller lets them in under the refs of `updates`, and disposes of it. Throws `protocol` for what is no such bundle.
 */
export async function takeKept(
  repository: Repository,
  version: RefsVersion,
  bundle: Readable,
): Promise<{ readonly updates: readonly RefUpdate[]; readonly quarantine: Quarantine }> {
  const reader = new ByteReader(bundle)
  const oids = (await readHead(reader, kept)).map(({ oid }) => oid)
  if (oids.length > mostKept) throw noBundle()
  const { refs } = await listRefs(repository, version)
  const there = new Set<string>(refs.map(({ name }) => name))
  const quarantine = await openQuarantine(repository)
  try {
    const place = { ...quarantine.repository, quarantine: quarantine.repository.quarantine! }
    const taken = await ingestPack(place, await reader.read(12), reader.rest())
    if (!taken.ok || !(await isConnected(quarantine.repository, oids, undefined))) throw noBundle()
    const updates = oids.flatMap((oid): RefUpdate[] => {
      const ref = parseRefName(`${keepAround}${oid}`)!
      return there.has(ref) ? [] : [{ ref, oldOid: zeroOid, newOid: oid }]
    })
    return { updates, quarantine }
  } catch (error) {
    await quarantine[Symbol.asyncDispose]()
    throw error
  }
}

interface BundleRef {
  readonly oid: Oid
  readonly name: RefName
}

/** What a bundle may hold. `hangs`: on commits that are not in it. */
interface BundleKind {
  readonly hangs: boolean
  readonly isWanted: (ref: BundleRef) => boolean
}

const whole: BundleKind = { hangs: false, isWanted: ({ name }) => /^refs\/(?:heads|tags)\//.test(name) }
const kept: BundleKind = { hangs: true, isWanted: ({ name, oid }) => name === keepAround + oid }

/** The refs of a bundle. Whether what it hangs on (`-` and an id) is there is found out later. */
async function readHead(reader: ByteReader, { hangs, isWanted }: BundleKind): Promise<BundleRef[]> {
  if ((await reader.read(signature.length)).toString('latin1') !== signature) throw noBundle()
  const refs = new Map<RefName, BundleRef>()
  let size = 0
  for (;;) {
    const line = await readLine(reader)
    size += line.length
    if (size > longestHead) throw noBundle()
    if (line === '') return [...refs.values()]
    if (hangs && /^-[0-9a-f]{40}$/.test(line)) continue
    const [, id, path] = /^([0-9a-f]{40}) (refs\/.+)$/.exec(line) ?? []
    const oid = parseOid(id ?? '')
    const name = parseRefName(path ?? '')
    if (oid === undefined || name === undefined || !isWanted({ oid, name })) throw noBundle()
    refs.set(name, { oid, name })
  }
}

const longestLine = 4096

async function readLine(reader: ByteReader): Promise<string> {
  const bytes: number[] = []
  for (;;) {
    const [byte] = await reader.read(1)
    if (byte === 10) return Buffer.from(bytes).toString('utf8')
    if (byte === undefined || bytes.length === longestLine) throw noBundle()
    bytes.push(byte)
  }
}

const noBundle = () => new GitError('protocol', 'this is no git bundle')

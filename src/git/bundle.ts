import { Readable } from 'node:stream'
import { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import { parseOid, parseRefName, zeroOid } from './parse.ts'
import { flushPkt, pkt } from './pkt-line.ts'
import type { RefsVersion } from './ref-cache.ts'
import { listRefs } from './refs.ts'
import type { Repository } from './repository.ts'
import { failure, start } from './run.ts'

const signature = '# v2 git bundle\n'
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

async function* withPack(
  repository: Repository,
  head: string,
  oids: readonly string[],
): AsyncGenerator<Buffer> {
  yield Buffer.from(head)
  const git = start(repository, 'pack-objects', {
    flags: ['--revs', '--stdout', '-q', '--delta-base-offset'],
  })
  try {
    git.stdin.end(oids.map((oid) => `${oid}\n`).join(''))
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
  { first, options }: { readonly first: string; readonly options: readonly string[] },
): Promise<{ readonly input: Readable; readonly refs: number }> {
  const reader = new ByteReader(bundle)
  const refs = await readHead(reader)
  const ordered = refs.toSorted((one, other) => Number(other.name === first) - Number(one.name === first))
  const commands = ordered.map(({ oid, name }, index) =>
    pkt(`${zeroOid} ${oid} ${name}${index === 0 ? '\0report-status push-options atomic' : ''}\n`),
  )
  const request = [...commands, flushPkt, ...options.map((option) => pkt(option)), flushPkt]
  async function* whole(): AsyncGenerator<Buffer> {
    yield Buffer.concat(request)
    yield* reader.rest()
  }
  return { input: Readable.from(whole()), refs: refs.length }
}

async function readHead(reader: ByteReader): Promise<{ oid: string; name: string }[]> {
  if ((await reader.read(signature.length)).toString('latin1') !== signature) throw noBundle()
  const refs: { oid: string; name: string }[] = []
  let size = 0
  for (;;) {
    const line = await readLine(reader)
    size += line.length
    if (size > longestHead) throw noBundle()
    if (line === '') return refs
    const [, oid, name] = /^([0-9a-f]{40}) (refs\/(?:heads|tags)\/.+)$/.exec(line) ?? []
    // What hangs on commits that are not in it is of no use here.
    if (oid === undefined || parseOid(oid) === undefined || parseRefName(name!) === undefined)
      throw noBundle()
    refs.push({ oid, name: name! })
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

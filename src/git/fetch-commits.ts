import { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import { ingestPack } from './ingest-pack.ts'
import { isConnected } from './is-connected.ts'
import { objectName } from './object-readers.ts'
import type { Oid } from './parse.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import type { Repository } from './repository.ts'
import { failure, start } from './run.ts'

/** Heads that are offered as known; more would only make the question long. */
const mostKnown = 200

/**
 * Brings a commit with its history from one repository into another: into a quarantine, which the caller lets in with
 * the ref that keeps it. Undefined: the target has the commit, and so all that belongs to it. `known`: heads of the
 * target, of whose history nothing needs to be sent.
 */
export async function fetchCommits(
  source: Repository,
  target: Repository,
  { head, known }: { readonly head: Oid; readonly known: readonly Oid[] },
): Promise<Quarantine | undefined> {
  if ((await has(target, head)) && (await isConnected(target, [head], undefined))) return undefined
  const offered = known.slice(0, mostKnown)
  const shared = await Promise.all(offered.map((oid) => has(source, oid)))
  const quarantine = await openQuarantine(target)
  const git = start(source, 'pack-objects', { flags: ['--revs', '--stdout', '-q', '--delta-base-offset'] })
  try {
    const stops = offered.filter((_, index) => shared[index] === true)
    git.stdin.end([head, ...stops.map((oid) => `^${oid}`)].map((line) => `${line}\n`).join(''))
    const reader = new ByteReader(git.stdout)
    const place = { ...quarantine.repository, quarantine: quarantine.repository.quarantine! }
    const taken = await ingestPack(place, await reader.read(12), reader.rest())
    const exitCode = await git.exit
    if (exitCode !== 0) throw failure('pack-objects', exitCode, git.stderr())
    if (!taken.ok) throw new GitError('failed', taken.reason, { stderr: taken.said })
    return quarantine
  } catch (error) {
    git.kill()
    await quarantine[Symbol.asyncDispose]()
    throw error
  }
}

async function has(repository: Repository, oid: Oid): Promise<boolean> {
  return (await repository.readers.header(repository, objectName(oid))) !== undefined
}

import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pump } from './pump.ts'
import { start, type Workplace } from './run.ts'

/**
 * Answers `git archive --remote`: which files, and in which form, the client says on the channel, which is left open.
 * Git gives only what a ref names. Tells what it had to complain of, which the client knows.
 */
export async function uploadArchive(
  place: Workplace,
  channel: Duplex,
  { signal }: { readonly signal: AbortSignal },
): Promise<{ readonly complaint: string | undefined }> {
  const git = start(place, 'upload-archive', { pathspecMagic: true, signal })
  pump(channel.iterator({ destroyOnReturn: false }), git.stdin, git.exit).catch(() => git.kill())
  await pipeline(git.stdout, channel, { end: false }).catch(() => git.kill())
  const exitCode = await git.exit
  return { complaint: exitCode === 0 ? undefined : git.stderr() }
}

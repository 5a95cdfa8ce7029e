import { findClosedFolder } from '../../lib/passable-place.ts'
import { EmbeddedPostgresError } from './error.ts'
import type { Folder } from './folder.ts'
import type { Launcher } from './process.ts'

/** What PostgreSQL's programs say (with the C locale) when a machine is at fault, and what mends it. */
const known: [RegExp, string][] = [
  [/No space left on device/, 'the disk (or /dev/shm) is full; free some space and start again'],
  [/Disk quota exceeded/, 'the disk quota is used up; free some space and start again'],
  [/Read-only file system/, 'the file system is read-only; put DATA_DIR on a writable one'],
  [/Cannot allocate memory/, 'there is not enough memory; free some, or lower shared_buffers'],
  [
    /look up effective user ID/,
    'the user Guildhall runs as has no entry in /etc/passwd, which PostgreSQL needs for new data; add one',
  ],
  [/Unix-domain sockets?/, 'this file system may have no Unix sockets; put DATA_DIR on a local disk'],
  [
    /shared memory block .* still in use|lock file ".*" already exists/,
    'processes of an earlier server are still at work on this data; end them and start again',
  ],
]

/** The line for the operator after a program of the server has failed with this output. */
export async function explainOutput(
  what: string,
  output: string,
  folder: Folder,
  launcher: Launcher,
): Promise<EmbeddedPostgresError> {
  const { account } = launcher
  if (output.includes('Permission denied') && account !== undefined && folder.open === folder.root) {
    const closed = await findClosedFolder(folder.root, account)
    if (closed !== undefined) {
      return new EmbeddedPostgresError(
        `${what}: PostgreSQL runs as user ${account.name}, who may not enter ${closed}: ` +
          `open it (chmod o+x ${closed}) or choose another DATA_DIR.`,
      )
    }
  }
  const reason = known.find(([pattern]) => pattern.test(output))?.[1]
  return new EmbeddedPostgresError(
    `${what}: ${reason ?? 'see what PostgreSQL says, and mend that'} (${lastComplaint(output)}; ${folder.root}).`,
  )
}

function lastComplaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const complaint = lines.findLast((line) => /\b(FATAL|PANIC|error|could not)\b/.test(line)) ?? lines.at(-1)
  return complaint?.trim() ?? 'it ended without a word'
}

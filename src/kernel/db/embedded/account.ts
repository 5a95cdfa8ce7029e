import { readFile, stat } from 'node:fs/promises'
import { EmbeddedPostgresError } from './error.ts'

/** The unprivileged user that runs the server. */
export interface Account {
  name: string
  uid: number
  gid: number
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * PostgreSQL refuses to run as root, so root needs somebody else: the owner of existing data (which may be older than
 * the `postgres` user of this machine), else `postgres`, else `nobody`. Undefined means: as we are.
 */
export async function chooseAccount(data: string, passwd = '/etc/passwd'): Promise<Account | undefined> {
  if (!isRoot()) return undefined
  const accounts = parseAccounts(await readFile(passwd, 'utf8').catch(() => ''))
  const owner = await stat(data).catch(() => undefined)
  if (owner !== undefined && owner.uid !== 0) {
    const known = accounts.find((account) => account.uid === owner.uid)
    return known ?? { name: String(owner.uid), uid: owner.uid, gid: owner.gid }
  }
  // initdb looks its user up, so a bare number that nobody knows would not do for new data.
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((candidate) => candidate.name === name && candidate.uid !== 0)
    if (account !== undefined) return account
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root and there is no user "postgres" or "nobody": ' +
      'add one (useradd --system postgres) or start Guildhall as an ordinary user.',
  )
}

function parseAccounts(passwd: string): Account[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    if (name === undefined || name.startsWith('#') || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? ''))
      return []
    return [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}

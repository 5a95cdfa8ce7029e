import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'ldapts'

const run = promisify(execFile)
const program = ['/usr/sbin/slapd', '/usr/lib/openldap/slapd', '/usr/libexec/slapd'].find(existsSync)

/** Whether OpenLDAP is installed. */
export const hasSlapd = program !== undefined
/** For the name of a suite that needs it. */
export const leftOut = hasSlapd ? '' : ' (left out: slapd is not installed)'

export const suffix = 'dc=example,dc=org'
export const rootDn = `cn=root,${suffix}`
export const rootPassword = 'root-of-the-directory'
/** An account to which one search gives one entry only. */
export const limitedDn = `cn=limited,${suffix}`

/** An entry of a directory: its name below the suffix, and its attributes. */
export interface DirectoryEntry {
  readonly dn: string
  readonly attributes: Readonly<Record<string, string | readonly string[]>>
}

/** A real OpenLDAP with a folder and ports of its own. */
export class TestDirectory implements AsyncDisposable {
  readonly port: number
  readonly tlsPort: number
  readonly folder: string
  readonly #stack: AsyncDisposableStack

  private constructor(folder: string, port: number, tlsPort: number, stack: AsyncDisposableStack) {
    this.folder = folder
    this.port = port
    this.tlsPort = tlsPort
    this.#stack = stack
  }

  get caFile(): string {
    return path.join(this.folder, 'cert.pem')
  }

  static async start(entries: readonly DirectoryEntry[]): Promise<TestDirectory> {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-slapd-'))
    stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
    await chmod(folder, 0o700)
    await certify(folder)
    await mkdir(path.join(folder, 'data'))
    const config = path.join(folder, 'slapd.conf')
    await writeFile(config, configuration(folder))
    const ldif = path.join(folder, 'start.ldif')
    await writeFile(ldif, written([...foundation, ...entries]))
    await run(program!, ['-T', 'add', '-q', '-f', config, '-l', ldif], { maxBuffer: 1 << 26 })
    const [port, tlsPort] = [await freePort(), await freePort()]
    const addresses = `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${tlsPort}`
    const child = spawn(program!, ['-d', '0', '-f', config, '-h', addresses], { stdio: 'ignore' })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    stack.defer(async () => {
      child.kill()
      await ended
    })
    const directory = new TestDirectory(folder, port, tlsPort, stack.move())
    await directory.#answers()
    return directory
  }

  /** Works on it as its administrator. */
  async change<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ url: `ldap://127.0.0.1:${this.port}` })
    try {
      await client.bind(rootDn, rootPassword)
      return await work(client)
    } finally {
      await client.unbind()
    }
  }

  async add(...entries: readonly DirectoryEntry[]): Promise<void> {
    await this.change(async (client) => {
      for (const { dn, attributes } of entries) {
        const mutable = Object.entries(attributes).map(([name, value]) => [name, [value].flat()])
        await client.add(`${dn},${suffix}`, Object.fromEntries(mutable) as Record<string, string[]>)
      }
    })
  }

  async remove(...dns: readonly string[]): Promise<void> {
    await this.change(async (client) => {
      for (const dn of dns) await client.del(`${dn},${suffix}`)
    })
  }

  /** Puts an entry in the place of the one that has its name. */
  async replace(entry: DirectoryEntry): Promise<void> {
    await this.remove(entry.dn)
    await this.add(entry)
  }

  async #answers(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.change(async () => undefined)
        return
      } catch (error) {
        if (attempt === 100) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

const units = ['people', 'contractors', 'partners', 'groups']

const foundation: readonly DirectoryEntry[] = [
  { dn: '', attributes: { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' } },
  {
    dn: 'cn=limited',
    attributes: { objectClass: ['organizationalRole', 'simpleSecurityObject'], userPassword: 'limited' },
  },
  ...units.map((ou) => ({ dn: `ou=${ou}`, attributes: { objectClass: 'organizationalUnit' } })),
]

/** Somebody, whose password is `password of <uid>`. */
export function person(
  uid: string,
  more: Readonly<Record<string, string | readonly string[]>> = {},
  unit = 'people',
): DirectoryEntry {
  return {
    dn: `uid=${uid},ou=${unit}`,
    attributes: {
      objectClass: 'inetOrgPerson',
      cn: `Name of ${uid}`,
      sn: uid,
      mail: `${uid}@example.org`,
      userPassword: passwordOf(uid),
      ...more,
    },
  }
}

export const passwordOf = (uid: string): string => `password of ${uid}`
export const dnOf = (uid: string, unit = 'people'): string => `uid=${uid},ou=${unit},${suffix}`

/** A group that names its members in full; it cannot be empty, so it names the administrator when it is. */
export function groupOfNames(cn: string, members: readonly string[]): DirectoryEntry {
  return {
    dn: `cn=${cn},ou=groups`,
    attributes: { objectClass: 'groupOfNames', member: members.length === 0 ? rootDn : members },
  }
}

function configuration(folder: string): string {
  const schemas = ['core', 'cosine', 'nis', 'inetorgperson']
  const modules = existsSync('/usr/lib/ldap/back_mdb.so')
    ? ['modulepath /usr/lib/ldap', 'moduleload back_mdb']
    : []
  return [
    ...schemas.map((name) => `include /etc/ldap/schema/${name}.schema`),
    ...modules,
    `pidfile ${folder}/slapd.pid`,
    `TLSCertificateFile ${folder}/cert.pem`,
    `TLSCertificateKeyFile ${folder}/key.pem`,
    'sizelimit unlimited',
    'database mdb',
    'maxsize 1073741824',
    `suffix "${suffix}"`,
    `rootdn "${rootDn}"`,
    `rootpw ${rootPassword}`,
    `directory ${folder}/data`,
    'dbnosync',
    'index objectClass,uid,cn,member,uniqueMember,memberUid eq',
    `limits dn.exact="${limitedDn}" size.soft=1 size.hard=1 size.prtotal=1`,
    'access to attrs=userPassword by anonymous auth by * none',
    'access to * by * read',
    '',
  ].join('\n')
}

/** Values in base64: then nothing in them has a meaning. */
function written(entries: readonly DirectoryEntry[]): string {
  const encoded = (text: string): string => Buffer.from(text).toString('base64')
  return entries
    .map(({ dn, attributes }) => {
      const [, type, value] = /^(\w+)=([^,]+)/.exec(dn) ?? []
      const own = type === undefined || type in attributes ? {} : { [type]: value! }
      const lines = Object.entries({ ...attributes, ...own }).flatMap(([name, values]) =>
        [values].flat().map((one) => `${name}:: ${encoded(one)}`),
      )
      return [`dn:: ${encoded(dn === '' ? suffix : `${dn},${suffix}`)}`, ...lines].join('\n')
    })
    .join('\n\n')
    .concat('\n')
}

async function certify(folder: string): Promise<void> {
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-keyout', path.join(folder, 'key.pem'), '-out', path.join(folder, 'cert.pem')],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
  ])
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

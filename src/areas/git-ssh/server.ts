import type { AddressInfo } from 'node:net'
import ssh2, {
  type AuthContext,
  type ClientInfo,
  type Connection,
  type ServerChannel,
  type Session,
} from 'ssh2'
import { GitError, parseProtocol } from '../../git/index.ts'
import { GitRefusal, projectMissing } from '../git-http/index.ts'
import { fingerprintOf, parsePublicKey, restrictionOf } from '../ssh-keys/index.ts'
import { answerAccount } from './account.ts'
import { admit } from './admission.ts'
import { readCommand } from './command.ts'
import { hostKeys } from './host-keys.ts'
import type { SshServices } from './index.ts'
import { lfsLogin } from './large-files.ts'
import * as store from './store.ts'
import { sendArchive, transfer } from './transfer.ts'

/** The one name under which everybody connects: the key tells who it is. */
const login = 'git'
/** Milliseconds that a client has to prove its key. */
const patience = 60_000
/** Keys that one client may try, and connections that may be unproven at one time. */
const most = { keys: 20, unproven: 200 }

/** Git over SSH: lets in by key, runs nothing but the two services of git, and these inside this process's walls. */
export class SshServer implements AsyncDisposable {
  readonly #services: SshServices
  readonly #server: ssh2.Server
  readonly #connections = new Set<Connection>()
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #unproven = 0

  private constructor(services: SshServices, keys: string[]) {
    this.#services = services
    this.#server = new ssh2.Server(
      { hostKeys: keys, ident: 'Guildhall', keepaliveInterval: 60_000 },
      (client, info) => this.#connected(client, info),
    )
    this.#server.on('error', (error: Error) =>
      services.log.warn({ err: error }, 'the SSH server has a problem'),
    )
  }

  static async start(
    services: SshServices,
    { host, port }: { host: string; port: number },
  ): Promise<SshServer> {
    const made = new SshServer(services, await hostKeys(services))
    await new Promise<void>((resolve, reject) => {
      made.#server.once('error', reject)
      made.#server.listen(port, host, () => resolve())
    })
    services.log.info({ port: made.port }, 'git over SSH listens')
    return made
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** What is under way may end for a moment; then everybody is cut off. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#stopping.abort()
    await Promise.allSettled(this.#running)
    for (const connection of this.#connections) connection.end()
  }

  #connected(client: Connection, { ip }: ClientInfo): void {
    if (this.#unproven >= most.unproven) {
      client.end()
      return
    }
    this.#unproven += 1
    this.#connections.add(client)
    const state: { key: store.KnownKey | undefined; tried: number; proven: boolean } = {
      key: undefined,
      tried: 0,
      proven: false,
    }
    const prove = (): void => {
      if (state.proven) return
      state.proven = true
      this.#unproven -= 1
      clearTimeout(timer)
    }
    const timer = setTimeout(() => client.end(), patience).unref()
    client.on('authentication', (context) => {
      state.tried += 1
      if (state.tried > most.keys) {
        client.end()
        return
      }
      this.#prove(context).then(
        (key) => {
          if (key === undefined) {
            context.reject(['publickey'])
            return
          }
          state.key = key
          context.accept()
        },
        (error: unknown) => {
          this.#services.log.error({ err: error }, 'an SSH key could not be looked up')
          context.reject()
        },
      )
    })
    client.on('ready', prove)
    client.on('session', (accept) => {
      if (state.key !== undefined) this.#session(accept(), { key: state.key, address: ip })
    })
    // A client that goes away in the midst of a word is no concern of ours.
    client.on('error', () => client.end())
    client.on('close', () => {
      prove()
      this.#connections.delete(client)
    })
  }

  /** The key that a client shows, when it is known here and, once the client signs, its own. */
  async #prove(context: AuthContext): Promise<store.KnownKey | undefined> {
    if (context.method !== 'publickey' || context.username !== login) return undefined
    const { db, settings } = this.#services
    const known = await store.findKey(db.reader, fingerprintOf(context.key.data))
    const parsed = known && parsePublicKey(known.key)
    if (known === undefined || parsed === undefined || known.usage_type === 'signing') return undefined
    if (restrictionOf(settings, parsed) !== undefined) return undefined
    // The first question of a client is only whether the key would do.
    if (context.signature === undefined || context.blob === undefined) return known
    const key = ssh2.utils.parseKey(known.key)
    if (key instanceof Error) return undefined
    // What is no signature of this key comes back as an error, whatever the types say.
    const verdict: unknown = key.verify(context.blob, context.signature, context.hashAlgo)
    if (verdict !== true) return undefined
    store.noteUse(this.#services, known)
    return known
  }

  #session(session: Session, caller: Caller): void {
    const { key } = caller
    let protocol: string | undefined
    session.on('env', (accept, _reject, { key: name, val }) => {
      if (name === 'GIT_PROTOCOL') protocol = val
      // Some clients ask without wanting an answer.
      ;(accept as (() => void) | undefined)?.()
    })
    session.on('pty', (accept) => (accept as (() => void) | undefined)?.())
    session.on('shell', (accept) => {
      const channel = accept()
      // A terminal that a client asked for wants its line breaks whole.
      channel.write(`Welcome to Guildhall, ${key.username === null ? key.title : `@${key.username}`}!\r\n`)
      end(channel, 0)
    })
    session.on('exec', (accept, _reject, { command }) => {
      const channel = accept()
      const running = this.#run(channel, caller, command, protocol).finally(() =>
        this.#running.delete(running),
      )
      this.#running.add(running)
    })
  }

  async #run(
    channel: ServerChannel,
    { key, address }: Caller,
    text: string,
    protocol: string | undefined,
  ): Promise<void> {
    const gone = new AbortController()
    channel.once('close', () => gone.abort())
    channel.on('error', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, this.#stopping.signal])
    try {
      const command = readCommand(text)
      if (command === 'unknown') throw new GitRefusal(403, `Unknown command: ${text.slice(0, 100)}`)
      if (command === 'nothing-there') throw new GitRefusal(404, projectMissing)
      if ('about' in command) {
        await answerAccount(this.#services, key, command, channel, signal)
      } else if ('archiveOf' in command) {
        const asked = { service: 'git-upload-pack', fullPath: command.archiveOf } as const
        await sendArchive(this.#services, await admit(this.#services, key, asked, address), channel, signal)
      } else if ('operation' in command) {
        const service = command.operation === 'upload' ? 'git-receive-pack' : 'git-upload-pack'
        const admitted = await admit(this.#services, key, { service, fullPath: command.fullPath }, address)
        channel.write(lfsLogin(this.#services, key, command, admitted))
      } else {
        const creates = command.service === 'git-receive-pack'
        const admitted = await admit(this.#services, key, { ...command, creates }, address)
        await transfer(this.#services, command, admitted, channel, {
          version: parseProtocol(protocol),
          signal,
        })
      }
      end(channel, 0)
    } catch (error) {
      if (error instanceof GitRefusal) {
        refuse(channel, error.text)
      } else {
        const stopped = error instanceof GitError && error.failure === 'aborted'
        if (!stopped) this.#services.log.error({ err: error }, 'git over SSH failed')
        refuse(
          channel,
          stopped ? 'The service is stopping.' : 'Something went wrong. Please try again later.',
        )
      }
    }
  }
}

/** Who has shown a key, and from where. */
interface Caller {
  readonly key: store.KnownKey
  readonly address: string
}

const line = '='.repeat(72)

/** In a frame, each line marked as the other side's: git shows it as it is. */
function refuse(channel: ServerChannel, message: string): void {
  const lines = ['', line, '', ...`ERROR: ${message}`.split('\n'), '', line, '']
  channel.stderr.write(lines.map((text) => `remote: ${text}`.trimEnd() + '\n').join(''))
  end(channel, 1)
}

function end(channel: ServerChannel, code: number): void {
  channel.exit(code)
  channel.end()
}

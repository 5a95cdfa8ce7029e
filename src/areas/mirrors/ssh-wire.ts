import ssh2 from 'ssh2'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Address } from './address.ts'
import { algorithmsOf, lineOfKey } from './host-keys.ts'
import { LineWire, type Line } from './line-wire.ts'
import { MirrorProblem } from './problem.ts'

export interface SshLogin {
  /** Left out: the password of the address. */
  readonly privateKey: string | undefined
  /** One-line keys by which the other side may show itself; none: whatever it shows first. */
  readonly hostKeys: readonly string[]
  /** Told the key of who was let in without one being known. */
  readonly remember: (hostKey: string) => Promise<void>
}

/** Milliseconds for the handshake and the login. */
const patience = 30_000

/** Git over SSH. Neither key nor password leaves this process, and the connection goes where it was checked to go. */
export function sshWire(
  outbound: Outbound,
  address: Address,
  login: SshLogin,
  signal: AbortSignal,
): LineWire {
  return new LineWire((service) => open(outbound, address, login, signal, commandOf(service, address.path)))
}

/** As git writes it: the path is one word for whichever shell reads it. */
function commandOf(service: string, path: string): string {
  const named = path.startsWith('/~') ? path.slice(1) : path
  return `${service} '${named.replaceAll(/['!]/g, (sign) => `'\\${sign}'`)}'`
}

async function open(
  outbound: Outbound,
  { host, port, user, password }: Address,
  { privateKey, hostKeys, remember }: SshLogin,
  signal: AbortSignal,
  command: string,
): Promise<Line> {
  const unreached = (): MirrorProblem =>
    new MirrorProblem(`${host} could not be reached over SSH`, { passing: true })
  const got = await outbound.connect({ host, port }, signal).catch(() => {
    throw unreached()
  })
  if ('blocked' in got) throw new MirrorProblem(got.blocked)
  const client = new ssh2.Client()
  const close = (): void => {
    client.end()
    got.socket.destroy()
  }
  signal.addEventListener('abort', close, { once: true })
  let shown: string | undefined
  let strange = false
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('ready', resolve)
      client.on('error', (error: Error & { level?: string }) => {
        if (strange) reject(new MirrorProblem(`The host key of ${host} is not the one that is known`))
        else if (error.level === 'client-authentication') {
          reject(new MirrorProblem('The login is refused'))
        } else reject(unreached())
      })
      client.once('close', () => reject(unreached()))
      client.connect({
        sock: got.socket,
        username: user ?? 'git',
        ...(privateKey === undefined ? { password: password ?? '' } : { privateKey }),
        hostVerifier: (key: Buffer) => {
          shown = lineOfKey(key)
          strange = hostKeys.length > 0 && !hostKeys.includes(shown)
          return !strange
        },
        ...algorithmsOf(hostKeys),
        readyTimeout: patience,
        keepaliveInterval: 30_000,
      })
    })
    if (hostKeys.length === 0) await remember(shown!)
    const stream = await new Promise<ssh2.ClientChannel>((resolve, reject) => {
      client.exec(command, (error, channel) => {
        if (error === undefined) resolve(channel)
        else reject(unreached())
      })
    })
    stream.stderr.resume()
    return { stream, close }
  } catch (error) {
    close()
    throw error
  }
}

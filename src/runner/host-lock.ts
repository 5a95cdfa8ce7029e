import { createHash } from 'node:crypto'
import net from 'node:net'

export interface HostLock extends AsyncDisposable {
  readonly name: string
}

/**
 * A lock among the processes of this host, or undefined when another one holds it. It is an abstract socket, so the
 * system lets go of it when the process dies. Where there are none (not Linux) it is always given.
 */
export async function takeHostLock(name: string): Promise<HostLock | undefined> {
  if (process.platform !== 'linux') return { name, [Symbol.asyncDispose]: async () => undefined }
  const server = net.createServer((socket) => socket.destroy())
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  server.once('listening', () => resolve(true))
  server.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') resolve(false)
    else reject(error)
  })
  // Hashed, as such an address holds 107 bytes.
  server.listen({ path: `\0guildhall-runner-${createHash('sha256').update(name).digest('hex')}` })
  if (!(await promise)) return undefined
  server.unref()
  return {
    name,
    [Symbol.asyncDispose]: () => new Promise<void>((done) => void server.close(() => done())),
  }
}

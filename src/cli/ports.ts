import { createServer } from 'node:net'
import { findNodeId, nodeHeader } from '../app/node-id.ts'
import type { Config } from '../kernel/config/index.ts'

/** What a check found: fine, or what is wrong and how to mend it. */
export type Finding = { readonly fine: string } | { readonly wrong: string }

/** Whether the service can listen, or does. */
export async function checkPort(config: Config): Promise<Finding> {
  const { host, port } = config
  if (await isFree(host, port)) return { fine: `${host}:${port} is free` }
  const listens = await whoListens(config)
  if (listens === 'this service') return { fine: `${host}:${port} is ours: the service runs` }
  return {
    wrong: `port ${port} is in use${listens === undefined ? '' : ' by a Guildhall with another DATA_DIR'}; stop what uses it, or choose another with PORT.`,
  }
}

export async function checkSshPort(config: Config): Promise<Finding> {
  const { host, sshPort: port } = config
  if (port === undefined) return { fine: 'git over SSH is off' }
  if (await isFree(host, port)) return { fine: `${host}:${port} is free` }
  // Who listens there cannot be asked.
  if ((await whoListens(config)) === 'this service')
    return { fine: `${host}:${port} is in use, and the service runs` }
  return { wrong: `port ${port} is in use; stop what uses it, or choose another with SSH_PORT.` }
}

/** Throws for what is wrong besides, as an address that is not of this machine. */
async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer()
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  server.once('error', reject)
  server.listen(port, host, () => resolve(undefined))
  try {
    await promise
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  } finally {
    server.close()
  }
}

async function whoListens({
  host,
  port,
  dataDirectory,
}: Config): Promise<'this service' | 'another one' | undefined> {
  const name = host.includes(':') ? `[${host}]` : host
  try {
    const answer = await fetch(`http://${name}:${port}/-/health`, { signal: AbortSignal.timeout(2000) })
    if ((await answer.text()) !== 'Guildhall OK') return undefined
    const nodeId = answer.headers.get(nodeHeader)
    return nodeId !== null && nodeId === (await findNodeId(dataDirectory)) ? 'this service' : 'another one'
  } catch {
    return undefined
  }
}

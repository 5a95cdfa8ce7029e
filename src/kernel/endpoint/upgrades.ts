import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The connection of a request that asks for another protocol on it. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What came behind the request already. */
  readonly head: Buffer
}

const upgrades = new WeakMap<IncomingMessage, Upgrade & { readonly response: ServerResponse }>()

/** Offers of other protocols, as clients make of HTTP/2, are not taken up: these are requests as any other. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Lets such requests go the way of all others; who answers one as usual refuses it, and ends the connection. */
export function routeUpgrades(server: FastifyInstance): void {
  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    // The server has let go of the connection: nobody else would hear of its end.
    socket.on('error', () => socket.destroy())
    // Nor of that before it is read from; who waits for the answer has nothing to say until it comes.
    socket.on('end', hangUp).resume()
    response.once('finish', () => socket.end(() => socket.destroy()))
    response.assignSocket(socket as never)
    upgrades.set(request, { request, socket, head, response })
    server.routing(request, response)
  })
}

function hangUp(this: Duplex): void {
  this.destroy()
}

export function asksForUpgrade(request: FastifyRequest): boolean {
  return upgrades.has(request.raw)
}

/** Takes the connection of such a request, which is not answered in the usual way any more. */
export function takeUpgrade(request: FastifyRequest, reply: FastifyReply): Upgrade {
  const upgrade = upgrades.get(request.raw)
  if (upgrade === undefined) throw new Error('the request asks for no other protocol')
  reply.hijack()
  upgrade.socket.off('end', hangUp)
  upgrade.response.detachSocket(upgrade.socket as never)
  return upgrade
}

import { WebSocket } from 'ws'
import { refused, unavailable } from '../../kernel/errors/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { JobSession } from './session.ts'
import { subprotocols } from './subprotocols.ts'

/** Milliseconds: a runner holds the request for a minute while the job's environment is made. */
const patience = 70_000

/** Bytes of one message. */
export const largestMessage = 1024 * 1024

/**
 * The runner's end of a terminal; paused, so that nothing of it is lost. Only the certificate that the runner announced
 * is trusted, and only by the name it has. Throws a refusal.
 */
export async function dial(
  { outbound, log }: { readonly outbound: Outbound; readonly log: Logger },
  { url, certificate, authorization }: JobSession,
  signal: AbortSignal,
): Promise<WebSocket> {
  const address = `${url.replace(/\/+$/, '')}/exec`
  const way = await outbound.approach(address)
  if ('blocked' in way) {
    log.warn({ reason: way.blocked }, 'the address of a terminal at a runner is not allowed')
    throw refused(422, `The runner cannot be reached: ${way.blocked}`)
  }
  const socket = new WebSocket(address.replace(/^https:/, 'wss:'), [...subprotocols], {
    ...(way.lookup !== undefined && { lookup: way.lookup }),
    // Runners sign their certificate themselves, and do not say that it may sign.
    ...(certificate !== null && { ca: certificate, allowPartialTrustChain: true }),
    ...(authorization !== null && { headers: { authorization } }),
    handshakeTimeout: patience,
    maxPayload: largestMessage,
    perMessageDeflate: false,
  })
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>()
  const giveUp = (): void => socket.terminate()
  signal.addEventListener('abort', giveUp, { once: true })
  socket.once('open', () => {
    socket.pause()
    resolve(socket)
  })
  socket.once('unexpected-response', (request, { statusCode }) => {
    request.destroy()
    reject(statusCode === 423 ? refused(409, 'Another terminal of this job is open.') : unavailable())
  })
  socket.on('error', (error) => {
    log.info({ err: error }, 'a terminal at a runner failed')
    reject(unavailable())
  })
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

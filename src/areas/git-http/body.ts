import type { IncomingMessage } from 'node:http'
import { Transform, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { GitRefusal } from './refusal.ts'

/** What clients send shrinks to a third at best; more than this is made to keep us busy. */
const largestRatio = 200
/** Bytes that are let through whatever their ratio. */
const harmless = 1024 * 1024

/** The body, unpacked when it was sent so. A body that swells too much breaks off. Throws for other encodings. */
export function readBody(request: IncomingMessage): Readable {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity') return request
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new GitRefusal(415, `The encoding '${encoding.slice(0, 50)}' is not known here.`)
  }
  const gunzip = createGunzip()
  let size = 0
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      const tooMuch = size > harmless && size > gunzip.bytesWritten * largestRatio
      if (tooMuch) done(new Error('the body swells too much'))
      else done(null, chunk)
    },
  })
  // No `pipeline`: it would take the request from its connection, and the rest of the body would wait there for ever.
  const end = (error: Error): void => void bounded.destroy(error)
  request.once('error', end).once('aborted', () => end(new Error('the client hung up')))
  bounded.once('close', () => gunzip.destroy())
  request.pipe(gunzip).on('error', end).pipe(bounded)
  return bounded
}

/** Milliseconds that a client has to send the rest of what nobody reads any more. */
const patience = 10_000

/**
 * Reads what is left of a body and throws it away. The next request on the connection would wait behind it for ever;
 * and a client that is cut off while it sends may never see our answer.
 */
export function drain(request: IncomingMessage, body: Readable): void {
  if (request.readableEnded) return
  const { socket } = request
  setTimeout(() => {
    if (!request.complete) socket.destroy()
  }, patience).unref()
  body.on('error', () => undefined)
  if (body !== request) body.destroy()
  request.unpipe()
  // Whoever was reading has left his listener, which keeps a stream from flowing; it is forgotten a tick later.
  request.removeAllListeners('readable')
  setImmediate(() => request.resume())
}

/** Refuses a call of a client that speaks something else. */
export function checkContentType(request: IncomingMessage, expected: string): void {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type !== expected) throw new GitRefusal(415, `Expected the content type ${expected}.`)
}

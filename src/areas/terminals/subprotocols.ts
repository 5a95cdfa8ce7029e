import type { RawData, WebSocket } from 'ws'

/** Of terminals, here and at runners: bytes in binary frames, or in Base64 in frames of text. */
export const subprotocols = ['terminal.gitlab.com', 'base64.terminal.gitlab.com'] as const

/** The first of these that we speak. */
export function chooseSubprotocol(offered: Iterable<string>): string | undefined {
  return [...offered].find((name) => (subprotocols as readonly string[]).includes(name))
}

const isBase64 = ({ protocol }: WebSocket): boolean => protocol.startsWith('base64.')

/** Calls back when the bytes have left. */
export function sendBytes(socket: WebSocket, bytes: Buffer, sent: () => void): void {
  if (isBase64(socket)) socket.send(bytes.toString('base64'), { binary: false }, sent)
  else socket.send(bytes, { binary: true }, sent)
}

/** The bytes of a message that came over this socket. */
export function bytesOf(socket: WebSocket, data: RawData): Buffer {
  // A socket that was not told otherwise has buffers.
  const message = data as Buffer
  return isBase64(socket) ? Buffer.from(message.toString('latin1'), 'base64') : message
}

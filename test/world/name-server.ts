import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export interface NameServer extends AsyncDisposable {
  /** As resolvers are told it. */
  readonly address: string
  /** Texts of its records by the name of a domain; others are not there. */
  readonly texts: Map<string, readonly string[]>
}

/** A name server that knows TXT records alone (RFC 1035). */
export async function startNameServer(): Promise<NameServer> {
  const texts = new Map<string, readonly string[]>()
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const { name, end } = nameIn(question)
    const found = texts.get(name)
    const header = Buffer.from(question.subarray(0, 12))
    // An answer, with authority; the name is not there (3) unless it is.
    header.writeUInt16BE(found === undefined ? 0x8583 : 0x8580, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(found?.length ?? 0, 6)
    header.writeUInt32BE(0, 8)
    const asked = question.subarray(12, end + 4)
    socket.send(Buffer.concat([header, asked, ...(found ?? []).map(record)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    texts,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function nameIn(question: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = question[at]!; length > 0; length = question[at]!) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** Of the name that was asked for; a text is cut into pieces of at most 255 bytes. */
function record(text: string): Buffer {
  const bytes = Buffer.from(text)
  const pieces: Buffer[] = []
  for (let from = 0; from < bytes.length; from += 255) {
    const piece = bytes.subarray(from, from + 255)
    pieces.push(Buffer.of(piece.length), piece)
  }
  const data = Buffer.concat(pieces)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(16, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

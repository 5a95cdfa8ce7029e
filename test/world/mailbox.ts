import { SMTPServer } from 'smtp-server'
import { eventually } from './merge-project.ts'

/** A mail as it came: headers by their small names, the text decoded. */
export interface Received {
  readonly from: string
  readonly to: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly subject: string
  readonly text: string
}

/** A server of mail on this machine that keeps what it is given. */
export class Mailbox implements AsyncDisposable {
  readonly received: Received[] = []
  /** What the next mails are refused with, one each: an answer of SMTP. */
  readonly refusals: { code: number; text: string }[] = []
  readonly #server: SMTPServer

  private constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData: (stream, session, done) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          const refusal = this.refusals.shift()
          if (refusal !== undefined) {
            done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
            return
          }
          const { mailFrom, rcptTo } = session.envelope
          this.received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            ...read(Buffer.concat(chunks).toString('latin1')),
          })
          done()
        })
      },
    })
  }

  static async open(): Promise<Mailbox> {
    const mailbox = new Mailbox()
    await new Promise<void>((resolve) => mailbox.#server.listen(0, '127.0.0.1', resolve))
    return mailbox
  }

  /** As `SMTP_URL` wants it. */
  get url(): string {
    const address = this.#server.server.address() as { port: number }
    return `smtp://127.0.0.1:${address.port}`
  }

  /** The mails to an address, once there are so many. */
  to(address: string, count = 1): Promise<Received[]> {
    return eventually(() => {
      const found = this.received.filter(({ to }) => to.includes(address))
      return Promise.resolve(found.length >= count && found)
    })
  }

  /** All mails with this subject that have come so far. */
  about(subject: string): Received[] {
    return this.received.filter((one) => one.subject.includes(subject))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}

/** The header and the body of a mail with one part. */
function read(source: string): Pick<Received, 'headers' | 'subject' | 'text'> {
  const cut = source.indexOf('\r\n\r\n')
  const lines = source
    .slice(0, cut)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), words(line.slice(colon + 1).trim())]
    }),
  )
  const body = source.slice(cut + 4)
  const encoding = (headers['content-transfer-encoding'] ?? '').toLowerCase()
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : Buffer.from(encoding === 'quoted-printable' ? unquoted(body.replace(/=\r\n/g, '')) : body, 'latin1')
  return {
    headers,
    subject: headers['subject'] ?? '',
    text: bytes.toString('utf8').replaceAll('\r\n', '\n'),
  }
}

function unquoted(text: string): string {
  return text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}

/** Encoded words of a header. */
function words(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      (kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64')
        : Buffer.from(unquoted(word.replaceAll('_', ' ')), 'latin1')
      ).toString('utf8'),
    )
}

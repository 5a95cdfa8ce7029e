import { createTransport, type Transporter } from 'nodemailer'

export interface SmtpServer {
  /** `smtp://user:password@host:port`, or `smtps://` for TLS from the first byte. */
  readonly url: URL
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** A few connections to the server, kept open between mails. A password crosses the network under TLS only. */
export function openTransport({ url }: SmtpServer): Transporter {
  const secure = url.protocol === 'smtps:'
  const credentials = url.username !== ''
  return createTransport({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || (secure ? 465 : 587)),
    secure,
    requireTLS: !secure && credentials && !loopback.test(url.hostname),
    ...(credentials && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    pool: true,
    maxConnections: 2,
    connectionTimeout: 20_000,
    greetingTimeout: 20_000,
    socketTimeout: 60_000,
    // Nothing in a mail is ever fetched for it.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer, type WebSocket } from 'ws'
import { pageCredentials } from '../../access/index.ts'
import type { Notifications } from '../../kernel/db/index.ts'
import { asksForUpgrade, requestFacts, takeUpgrade } from '../../kernel/endpoint/index.ts'
import { ApiError, badRequest, forbidden, notFound, unavailable } from '../../kernel/errors/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import { isOwnPage } from '../sessions/index.ts'
import { admit, type AdmissionServices, type TerminalRequest } from './admission.ts'
import { dial, largestMessage } from './dial.ts'
import { openSession } from './session.ts'
import { chooseSubprotocol } from './subprotocols.ts'
import { Terminal, type Ending } from './terminal.ts'

export interface TerminalServices extends AdmissionServices {
  readonly notifications: Notifications
  readonly cipher: Cipher
  readonly outbound: Outbound
}

/** Told by the database with the id of a job whose session has ended. */
const sessionsChannel = 'ci_job_sessions'

/** The terminals that are open at this node. */
export class Terminals implements AsyncDisposable {
  readonly #services: TerminalServices
  readonly #open = new Map<Terminal, number>()
  readonly #server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => chooseSubprotocol(offered) ?? false,
    maxPayload: largestMessage,
    perMessageDeflate: false,
  })
  #stopped = false

  constructor(services: TerminalServices) {
    this.#services = services
    services.notifications.subscribe(sessionsChannel, (id) => this.#checkOf(id))
  }

  /** Answers a request for a terminal: with one, or with a refusal. */
  async open(
    request: FastifyRequest,
    reply: FastifyReply,
    about: Pick<TerminalRequest, 'fullPath' | 'jobId'>,
  ): Promise<FastifyReply | undefined> {
    nameRequest('terminal of a job')
    const { cipher, log } = this.#services
    this.#requireOwnPage(request)
    const wanted = { ...about, headers: request.headers, ip: request.ip }
    const { username, status, secret } = await admit(this.#services, wanted)
    requireWebSocket(request)
    if (secret === null || status !== 'running') throw notFound('Terminal')
    const runner = await dial(
      this.#services,
      openSession(cipher, secret),
      requestFacts(request, reply).signal,
    )
    if (this.#stopped) {
      runner.terminate()
      throw unavailable()
    }
    const { socket, head } = takeUpgrade(request, reply)
    const alone = (): void => runner.terminate()
    socket.once('close', alone)
    this.#server.handleUpgrade(request.raw, socket, head, (client) => {
      socket.off('close', alone)
      log.info({ job: about.jobId, actor: username }, 'a terminal was opened')
      this.#join(client, runner, wanted)
    })
    return undefined
  }

  #join(client: WebSocket, runner: WebSocket, wanted: TerminalRequest): void {
    const { settings, log } = this.#services
    const terminal = new Terminal({
      client,
      runner,
      longest: () => settings.values.terminal_max_session_time,
      problem: () => this.#problem(wanted),
    })
    this.#open.set(terminal, wanted.jobId)
    void terminal.closed.then(() => {
      this.#open.delete(terminal)
      log.info({ job: wanted.jobId, because: terminal.ending }, 'a terminal was closed')
    })
  }

  async #problem(wanted: TerminalRequest): Promise<Ending | undefined> {
    try {
      const { secret } = await admit(this.#services, wanted)
      return secret === null ? 'job ended' : undefined
    } catch (error) {
      if (error instanceof ApiError) return 'access lost'
      // It is asked again soon.
      this.#services.log.warn({ err: error }, 'access to a terminal could not be looked at')
      return undefined
    }
  }

  /** Without an id something may have been missed. */
  #checkOf(id: string): void {
    for (const [terminal, jobId] of this.#open) if (id === '' || id === String(jobId)) terminal.check()
  }

  /** Browsers send the cookie of the session along for pages of others, too; only these say whose page it is. */
  #requireOwnPage(request: FastifyRequest): void {
    const { kind } = pageCredentials(request.headers, this.#services.settings.values)
    if (kind !== 'session') return
    if (request.headers.origin === undefined || !isOwnPage(request)) throw forbidden()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    const open = [...this.#open.keys()]
    for (const terminal of open) terminal.end('shutting down')
    await Promise.all(open.map(({ closed }) => closed))
  }
}

function requireWebSocket(request: FastifyRequest): void {
  if (!asksForUpgrade(request)) throw badRequest('the terminal is a WebSocket')
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  if (chooseSubprotocol(offered) === undefined) throw badRequest('none of the subprotocols is known')
}

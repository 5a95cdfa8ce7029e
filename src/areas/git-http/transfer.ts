import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  advertiseRefs,
  GitError,
  listRefs,
  repositoryExists,
  uploadPack,
  type ProtocolVersion,
  type Service,
} from '../../git/index.ts'
import { requestFacts } from '../../kernel/endpoint/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import { cloneRoot } from '../projects/index.ts'
import type { AdmissionServices, Admitted } from './admission.ts'
import { drain, readBody } from './body.ts'
import { notices } from './notices.ts'
import { GitRefusal } from './refusal.ts'
import type { Target } from './target.ts'

export type GitServices = AdmissionServices

export const messagePrefix = 'Guildhall: '

type Headers = Readonly<Record<string, string>>

export async function advertise(target: Target, service: Service, version: ProtocolVersion): Promise<Buffer> {
  const repository = await target.open()
  const refs = await listRefs(repository, target.refsVersion).catch(async (error: unknown) => {
    if (await repositoryExists(repository)) throw error
    throw new GitRefusal(404, target.absent)
  })
  return advertiseRefs(repository, service, { refs, version, http: true })
}

/** Answers a fetch; git's answer goes straight to the socket. */
export async function fetch(
  { log, noteFetch }: GitServices,
  target: Target,
  version: ProtocolVersion,
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Headers,
): Promise<void> {
  const repository = await target.open()
  const input = readBody(request.raw)
  const { signal } = requestFacts(request, reply)
  await streaming({ request, reply, headers, input, log }, async (output) => {
    const { complaint, refsOnly } = await uploadPack(repository, input, output, {
      version,
      statelessRpc: true,
      refs: () => listRefs(repository, target.refsVersion),
      signal,
    })
    if (complaint !== undefined) log.info({ ...target.label, complaint }, 'a fetch ended early')
    else if (!refsOnly && target.project !== undefined) noteFetch(target.project.id)
  })
}

/** Takes a push in. What is refused the client is told within the answer, whose status is 200 all the same. */
export async function push(
  services: GitServices,
  admitted: Admitted,
  askedPath: string,
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Headers,
): Promise<void> {
  const { actor, target } = admitted
  const { log, settings, externalUrl } = services
  const megabytes = settings.values.receive_max_input_size ?? 0
  await target.open()
  const input = readBody(request.raw)
  const { signal } = requestFacts(request, reply)
  await streaming({ request, reply, headers, input, log }, async (output) => {
    try {
      const { problem } = await target.receive(actor, input, output, {
        signal,
        messagePrefix,
        ...(megabytes > 0 && { maxPackSize: megabytes * 1024 * 1024 }),
        afterwards: () =>
          notices(services, admitted, {
            asked: askedPath,
            remote: `${cloneRoot(settings.values, externalUrl())}/${target.fullPath}.git`,
          }),
      })
      if (problem !== undefined) log.info({ ...target.label, problem }, 'a push failed')
    } catch (error) {
      if (error instanceof GitError && error.failure === 'aborted') throw error
      // The client was told: its answer is whole.
      log.error({ err: error, ...target.label }, 'a push could not be taken in')
    }
  })
}

/** Milliseconds of silence on both sides after which a connection is given up; git says something every 5 seconds. */
const silence = 15 * 60_000

interface Streaming {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly headers: Headers
  readonly input: Readable
  readonly log: Logger
}

/**
 * Lets `work` write the answer to the socket itself, with its back-pressure. A failure in the midst breaks the
 * connection: half an answer must not look like a whole one.
 */
async function streaming(
  { request, reply, headers, input, log }: Streaming,
  work: (output: ServerResponse) => Promise<void>,
): Promise<void> {
  reply.hijack()
  const output = reply.raw
  output.setTimeout(silence)
  output.writeHead(200, { ...headers, 'x-content-type-options': 'nosniff' })
  try {
    await work(output)
    output.end()
    drain(request.raw, input)
  } catch (error) {
    output.destroy()
    // The client went away, or we are stopping.
    if (error instanceof GitError && error.failure === 'aborted') return
    log.error({ err: error }, 'a git transfer failed')
  }
}

import type { FastifyReply } from 'fastify'
import { offers } from '../../kernel/config/index.ts'
import { GitRefusal } from '../git-http/index.ts'
import { sizeProblem, type PlacedProject } from '../repository/index.ts'
import { sendJson, type LfsRequest } from './call.ts'
import type { LfsServices } from './index.ts'
import * as store from './store.ts'

interface Asked {
  readonly oid: string
  readonly size: number
}

export interface BatchQuestion {
  readonly operation: 'download' | 'upload'
  readonly objects: readonly unknown[]
}

/** Objects that one question may be about. */
const most = 10_000

/** What a client wants to bring or fetch; throws the refusal of what is no such question. */
export function readBatch(body: Readonly<Record<string, unknown>>): BatchQuestion {
  const { operation, objects, transfers = ['basic'], hash_algo: hash = 'sha256' } = body
  if (operation !== 'download' && operation !== 'upload') {
    throw new GitRefusal(422, 'The operation is neither download nor upload.')
  }
  if (hash !== 'sha256') throw new GitRefusal(409, 'Only SHA-256 is known here.')
  if (!Array.isArray(transfers) || (transfers.length > 0 && !transfers.includes('basic'))) {
    throw new GitRefusal(422, 'Only the transfer adapter basic is known here.')
  }
  if (!Array.isArray(objects)) throw new GitRefusal(422, 'There is no list of objects.')
  if (objects.length === 0) throw new GitRefusal(404, 'Not found.')
  if (objects.length > most) throw new GitRefusal(413, `A question is about ${most} objects at most.`)
  return { operation, objects }
}

function readObject(value: unknown): Asked | undefined {
  const { oid, size } = (value ?? {}) as Partial<Record<string, unknown>>
  const fits = typeof oid === 'string' && /^[0-9a-f]{64}$/.test(oid) && Number.isSafeInteger(size)
  return fits && (size as number) >= 0 ? { oid, size: size as number } : undefined
}

/** Tells for each object where to fetch it, where to bring it, or that there is nothing to do. */
export async function answerBatch(
  call: LfsRequest,
  { operation, objects }: BatchQuestion,
): Promise<FastifyReply> {
  const { services, project, reply } = call
  const asked = objects.map(readObject)
  const found = await store.findObjects(
    services.db.reader,
    project.id,
    asked.flatMap((one) => one?.oid ?? []),
  )
  // What is to be merged, or was in what the project was made of, is now the project's own.
  const borrowed = found.filter(({ own }) => !own).map(({ oid }) => oid)
  await store.link(services.db, project.id, borrowed)
  const sizes = new Map(found.map(({ oid, size }) => [oid, size]))
  if (operation === 'upload') {
    const problem = await sizeFault(
      services,
      project,
      asked.flatMap((one) => (one === undefined || sizes.has(one.oid) ? [] : one.size)),
    )
    if (problem !== undefined) throw new GitRefusal(406, problem)
  }
  const answers = asked.map((one, index) => {
    if (one === undefined) return { ...(objects[index] as object | null), error: malformed }
    const known = sizes.get(one.oid)
    return operation === 'download' ? toFetch(call, one, known) : toBring(call, one, known)
  })
  return sendJson(reply, 200, { transfer: 'basic', objects: answers, hash_algo: 'sha256' })
}

/**
 * Why a project may not have large files of so many bytes more, which count like what is in the repository: whoever brings
 * them is told before they come. Undefined where it may.
 */
export async function sizeFault(
  { db, settings, places, plan }: Pick<LfsServices, 'db' | 'settings' | 'places' | 'plan'>,
  project: PlacedProject,
  bringing: readonly number[],
): Promise<string | undefined> {
  if (!offers(plan, 'push_rules') || bringing.length === 0) return undefined
  const sum = bringing.reduce((all, one) => all + one, 0)
  return sizeProblem(
    settings,
    places.of(project),
    async () => sum + (await store.storedBytes(db.reader, project.id)),
  )
}

const malformed = { code: 422, message: 'Not the digest and the size of an object' }
const missing = {
  code: 404,
  message: "Object does not exist on the server or you don't have permissions to access it",
}

function toFetch(call: LfsRequest, { oid, size }: Asked, known: number | undefined): object {
  if (known === undefined) return { oid, size, error: missing }
  const download = { href: `${call.base}/objects/${oid}`, header: credentials(call) }
  return { oid, size: known, authenticated: true, actions: { download } }
}

function toBring(call: LfsRequest, { oid, size }: Asked, known: number | undefined): object {
  if (known !== undefined) return { oid, size: known, authenticated: true }
  const upload = {
    href: `${call.base}/objects/${oid}/${size}`,
    header: {
      ...credentials(call),
      'Content-Type': 'application/octet-stream',
      // Whatever its size, the client need not gather it before it sends.
      'Transfer-Encoding': 'chunked',
    },
  }
  return { oid, size, authenticated: true, actions: { upload } }
}

/** Clients show to the address of an object what they are told to. */
function credentials({ request }: LfsRequest): Record<string, string> {
  const { authorization } = request.headers
  return authorization === undefined ? {} : { Authorization: authorization }
}

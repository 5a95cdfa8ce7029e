import type { Outbound } from '../../kernel/outbound/index.ts'
import { loginOf, MirrorProblem, webAddress, type Address, type BringLargeFiles } from '../mirrors/index.ts'
import { sizeFault } from './batch.ts'
import type { LfsServices } from './index.ts'
import { lackingFiles } from './named-files.ts'
import type { Pointer } from './pointer.ts'
import * as store from './store.ts'
import { keepLargeFile } from './transfer.ts'

type BringingServices = Pick<LfsServices, 'db' | 'plan' | 'settings' | 'places' | 'outbound' | 'largeContent'>
type Source = Parameters<BringLargeFiles>[2]

const mediaType = 'application/vnd.git-lfs+json'
/** Objects that one question is about. */
const atOnce = 100
const mebibyte = 1024 * 1024
/** Milliseconds that an answer may take, and that a file may. */
const patience = { answer: 60_000, file: 30 * 60_000 }

/**
 * Brings the large files that commits name from where these come from, before they come in themselves. What the other
 * side does not have is left out, and so are all where it serves none: the code is of use without them.
 */
export function bringLargeFiles(services: BringingServices): BringLargeFiles {
  const { db } = services
  return async (project, commits, source) => {
    if (source.address.scheme !== 'http' && source.address.scheme !== 'https') return
    const { enabled, has_objects } = await store.factsOf(db.reader, project.id)
    if (!enabled) return
    for await (const lacking of lackingFiles(db, { id: project.id, has_objects }, commits)) {
      for (let at = 0; at < lacking.length; at += atOnce) {
        const wanted = lacking.slice(at, at + atOnce)
        const fault = await sizeFault(
          services,
          project,
          wanted.map(({ size }) => size),
        )
        if (fault !== undefined) throw new MirrorProblem('Its large files take more than a repository may')
        const places = await ask(services.outbound, source, wanted)
        if (places === undefined) return
        for (const pointer of wanted) {
          const place = places.get(pointer.oid)
          if (place !== undefined) await bringOne(services, project.id, { pointer, place }, source)
        }
      }
    }
  }
}

/** From where a file is fetched, and with which headers. */
interface FilePlace {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Where the files are; undefined where there are no large files at all. */
async function ask(
  outbound: Outbound,
  { address, signal }: Source,
  objects: readonly Pointer[],
): Promise<ReadonlyMap<string, FilePlace> | undefined> {
  const repository = webAddress(address)
  const url = `${repository}${repository.endsWith('.git') ? '' : '.git'}/info/lfs/objects/batch`
  const login = loginOf(address)
  const got = await outbound.postJson(
    url,
    { operation: 'download', transfers: ['basic'], objects },
    {
      headers: { accept: mediaType, 'content-type': mediaType, ...login },
      maximumBytes: mebibyte,
      timeout: patience.answer,
      follows: false,
      signal,
    },
  )
  signal.throwIfAborted()
  if ('blocked' in got) throw new MirrorProblem(got.blocked)
  if ('failed' in got || isPassing(got.status)) throw unreachable(address)
  if (got.status !== 200) return undefined
  return placesIn(got.text, { origin: new URL(repository).origin, login })
}

/** What an answer says, of which anything may be missing. The login is for the host of the repository alone. */
function placesIn(
  text: string,
  { origin, login }: { readonly origin: string; readonly login: FilePlace['headers'] },
): ReadonlyMap<string, FilePlace> | undefined {
  const answer = parsed(text)
  if (!Array.isArray(answer?.objects)) return undefined
  const places = new Map<string, FilePlace>()
  for (const one of answer.objects as readonly (AnsweredObject | null)[]) {
    const { href, header } = one?.actions?.download ?? {}
    const url = typeof href === 'string' ? URL.parse(href) : null
    if (typeof one?.oid !== 'string' || url === null) continue
    const told = Object.entries(header ?? {}).filter(([, value]) => typeof value === 'string')
    const headers = told.length > 0 || url.origin !== origin ? Object.fromEntries(told) : login
    places.set(one.oid, { url: url.href, headers })
  }
  return places
}

interface AnsweredObject {
  readonly oid?: unknown
  readonly actions?: {
    readonly download?: { readonly href?: unknown; readonly header?: object | null } | null
  } | null
}

function parsed(text: string): { readonly objects?: unknown } | null {
  try {
    return JSON.parse(text) as { readonly objects?: unknown } | null
  } catch {
    return null
  }
}

async function bringOne(
  services: BringingServices,
  projectId: number,
  { pointer, place: { url, headers } }: { readonly pointer: Pointer; readonly place: FilePlace },
  { address, signal }: Source,
): Promise<void> {
  const got = await services.outbound.stream(
    url,
    { headers, timeout: patience.file, signal },
    async ({ status, body }) => {
      if (status !== 200) return { status }
      const refusal = () =>
        new MirrorProblem('A large file is not the one that it is said to be', { passing: true })
      await keepLargeFile(services, projectId, pointer, { content: body, refusal })
      return { status }
    },
  )
  signal.throwIfAborted()
  if ('blocked' in got) throw new MirrorProblem(got.blocked)
  if ('failed' in got || isPassing(got.status)) throw unreachable(address)
}

/** 501 says of some hosts that they have no large files. */
function isPassing(status: number): boolean {
  return status === 429 || (status >= 500 && status !== 501)
}

function unreachable({ host }: Address): MirrorProblem {
  return new MirrorProblem(`The large files of ${host} could not be reached`, { passing: true })
}

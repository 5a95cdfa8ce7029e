import { decide, findGroup, isAdministrator, userOf, visibilityName, type Actor } from '../../access/index.ts'
import { branchRef } from '../../git/index.ts'
import { ApiError, forbidden, sentencesOf } from '../../kernel/errors/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { describeProject } from '../project-archives/index.ts'
import { createProject } from '../projects/index.ts'
import { plainAddress, settingsOf, type Credentials, type HostKind } from './hosts.ts'
import * as store from './import-store.ts'
import { credentialsContext, type HostImportRoom } from './services.ts'
import { addSteps, type ImportOptions, type NewStep } from './step-store.ts'

/** Wakes who does the steps, on whichever node. */
export const wakeTask = 'host-imports:wake'

/** A repository as its host describes it. */
export interface SourceProject {
  /** By which the API there knows it. */
  readonly fullName: string
  readonly name: string
  readonly description: string | null
  /** Everybody reads it there. */
  readonly open: boolean
  readonly defaultBranch: string | null
  readonly wiki: boolean
  readonly kibibytes: number
}

/** How refusals look that this area words itself; each kind of host has its own form. */
export type Refuse = (status: 400 | 401 | 422, text: string) => ApiError

export function checkSource({ settings }: HostImportRoom, kind: HostKind): void {
  if (!settings.values.import_sources.includes(settingsOf[kind].source)) throw forbidden()
}

/** Where an installation of somebody's own is; refused where nothing may be asked of it. */
export async function checkAddress(
  { outbound }: HostImportRoom,
  text: string,
  refuse: Refuse,
): Promise<string> {
  const address = plainAddress(text)
  if (address === undefined || (await outbound.refusal(address)) !== undefined) {
    throw refuse(400, `Invalid URL: ${text.slice(0, 2048)}`)
  }
  return address
}

/** A namespace that the caller may bring projects to: his own, or a group that he looks after. */
export async function findHome(
  { db }: HostImportRoom,
  actor: Actor,
  path: string,
): Promise<number | undefined> {
  const home = await store.findHome(db.reader, path.replace(/^\/+/, ''))
  if (home === undefined) return undefined
  if (home.kind === 'user') return home.ownerId === userOf(actor).id ? home.id : undefined
  const group = await findGroup(db.reader, actor, home.id)
  return group !== undefined && decide(actor, 'import_projects', group, true).allowed ? home.id : undefined
}

export interface Beginning {
  readonly kind: HostKind
  readonly address: string | null
  readonly credentials: Credentials
  readonly options: ImportOptions
  readonly home: number
  readonly newName: string | undefined
  readonly source: SourceProject
  readonly steps: readonly Omit<NewStep, 'number'>[]
}

const mebibyte = 1024

/** Makes the project, and leaves the rest to who does the steps. */
export async function begin(
  room: HostImportRoom,
  actor: Actor,
  wanted: Beginning,
  refuse: Refuse,
): Promise<store.ImportRow> {
  const { db, cipher, places, settings } = room
  const { kind, source } = wanted
  const { repository_size_limit: limit, restricted_visibility_levels: restricted } = settings.values
  if (limit > 0 && source.kibibytes > limit * mebibyte) {
    const size = `${Math.ceil(source.kibibytes / mebibyte)} MiB`
    throw refuse(422, `"${source.name}" size (${size}) is larger than the limit of ${limit} MiB.`)
  }
  const name = wanted.newName ?? source.name
  const branch = source.defaultBranch
  const wish = {
    name,
    path: name,
    namespace_id: wanted.home,
    visibility: 'private' as const,
    ...(branch !== null && branchRef(branch) !== undefined && { default_branch: branch }),
  }
  const level = source.open ? 20 : 0
  const kept = isAdministrator(actor) || !restricted.includes(visibilityName(level))
  const visibility = kept ? level : levels[settings.values.default_project_visibility]
  const context = { db, settings: settings.values, places }
  let row: store.ImportRow | undefined
  await createProject(context, { actor, user: userOf(actor) }, wish, async (tx, projectId) => {
    await describeProject(tx, projectId, { description: source.description, topics: [], visibility })
    const importId = await store.addImport(tx, {
      ...{ projectId, kind, address: wanted.address, fullName: source.fullName, options: wanted.options },
      userId: userOf(actor).id,
      credentials: cipher.seal(JSON.stringify(wanted.credentials), credentialsContext),
      source: { defaultBranch: branch },
      correlationId: requestContext()?.id ?? '',
    })
    await addSteps(
      tx,
      importId,
      wanted.steps.map((step) => ({ ...step, number: 1 })),
    )
    await enqueue(tx, wakeTask, {}, { key: wakeTask })
    row = await store.findImport(tx, projectId, kind)
  }).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 400
      ? refuse(422, sentencesOf(error.body).join(', '))
      : error
  })
  return row!
}

const levels = { private: 0, internal: 10, public: 20 } as const

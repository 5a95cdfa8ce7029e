import { decide, findGroup, userOf, type Actor } from '../../access/index.ts'
import { invalidParameters, refused } from '../../kernel/errors/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { isTaken } from '../namespaces/index.ts'
import * as store from './import-store.ts'
import { tokenContext, type TransferRoom } from './services.ts'

/** Wakes who does the steps, on whichever node. */
export const wakeTask = 'direct-transfers:wake'

/** Groups and projects that one call may name. */
const mostEntities = 100

export interface WantedEntity {
  readonly source_type: 'group_entity' | 'project_entity'
  readonly source_full_path: string
  readonly destination_slug?: string | undefined
  readonly destination_name?: string | undefined
  readonly destination_namespace: string
  readonly migrate_projects: boolean
  readonly migrate_memberships: boolean
}

export interface WantedImport {
  readonly configuration: { readonly url: string; readonly access_token: string }
  readonly entities: readonly WantedEntity[]
}

/** Looks at what is asked for, and leaves the rest to who does the steps. Answers the id of the import. */
export async function begin(room: TransferRoom, actor: Actor, wanted: WantedImport): Promise<number> {
  const { db, cipher } = room
  const { length } = wanted.entities
  if (length === 0 || length > mostEntities) throw invalidParameters(['entities is invalid'])
  const entities = wanted.entities.map((entity, index) => entityOf(entity, `entities[${index}]`))
  const url = await addressOf(room, wanted.configuration.url)
  for (const entity of entities) await checkDestination(room, actor, entity)
  return db.transaction(async (tx) => {
    const userId = userOf(actor).id
    const importId = await store.addImport(tx, {
      ...{ userId, url, correlationId: requestContext()?.id ?? '' },
      accessToken: cipher.seal(wanted.configuration.access_token, tokenContext),
    })
    await store.addEntities(tx, { importId, userId, entityId: null }, entities)
    await enqueue(tx, wakeTask, {}, { key: wakeTask })
    return importId
  })
}

const longestUrl = 2048

/** Scheme, host and folder of the source; 400 where nothing may be asked of it. */
async function addressOf({ outbound }: TransferRoom, text: string): Promise<string> {
  const url = URL.parse(text)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (!plain || text.length > longestUrl) throw invalidParameters(['configuration[url] is invalid'])
  const address = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  const problem = await outbound.refusal(address)
  if (problem !== undefined) throw refused(400, `Url is blocked: ${problem}`)
  return address
}

const segment = /^[a-zA-Z0-9_][\w.-]{0,254}$/
const isPath = (path: string): boolean =>
  path.length <= 2000 && path.split('/').every((part) => segment.test(part))

function entityOf(wanted: WantedEntity, place: string): store.NewEntity {
  const slug = wanted.destination_slug ?? wanted.destination_name
  if (slug === undefined) throw invalidParameters([`${place}[destination_slug] is missing`])
  if (!segment.test(slug)) throw invalidParameters([`${place}[destination_slug] is invalid`])
  const { source_full_path: source, destination_namespace: destination } = wanted
  if (!isPath(source)) throw invalidParameters([`${place}[source_full_path] is invalid`])
  if (destination !== '' && !isPath(destination)) {
    throw invalidParameters([`${place}[destination_namespace] is invalid`])
  }
  return {
    kind: wanted.source_type === 'group_entity' ? 'group' : 'project',
    source_full_path: source,
    destination_slug: slug,
    destination_namespace: destination,
    migrate_projects: wanted.migrate_projects,
    migrate_memberships: wanted.migrate_memberships,
  }
}

/** Whoever may make a group or project there may bring one there, where nothing is yet. */
async function checkDestination({ db }: TransferRoom, actor: Actor, entity: store.NewEntity): Promise<void> {
  const { kind, destination_namespace: namespace, destination_slug: slug } = entity
  if (!(await mayBring())) {
    throw refused(422, `Import failed. Destination '${namespace}' is invalid, or you don't have permission.`)
  }
  const path = namespace === '' ? slug : `${namespace}/${slug}`
  if (await isTaken(db.reader, path)) {
    throw refused(422, `Import failed. '${path}' already exists. Change the destination and try again.`)
  }

  async function mayBring(): Promise<boolean> {
    if (namespace === '') {
      return kind === 'group' && decide(actor, 'create_group', { kind: 'instance' }).allowed
    }
    const home = await findGroup(db.reader, actor, namespace)
    const ability = kind === 'group' ? 'create_subgroup' : 'create_projects'
    return home !== undefined && decide(actor, ability, home, true).allowed
  }
}

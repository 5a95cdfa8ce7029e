import { endpoint, keptByGroup, keptByProject, type Keeper } from '../../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  Json,
  ListOf,
  OneOf,
  Optional,
  Text,
  Timestamp,
  type AbilityOf,
  type Endpoint,
  type SubjectKind,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, invalid, invalidParameters, unprocessable } from '../../../kernel/errors/index.ts'
import type { DeliveryServices } from '../deliver.ts'
import { contexts } from '../hook.ts'
import {
  appIntegration,
  branchChoices,
  channels,
  integrations,
  labelChoices,
  nameOf,
  secrets,
  slugOf,
  toldOf,
  usual,
  type Properties,
  type ToldOf,
} from './catalogue.ts'
import { isAllowed } from './rules.ts'
import * as store from './store.ts'

const words = () => Optional(Text({ maxLength: 255 }))
const switches = <T>(of: () => T): Record<string, T> =>
  Object.fromEntries(toldOf.map((name) => [`${name}_events`, of()]))

const settable = {
  webhook: Optional(Text({ maxLength: 2048, description: 'Address of the chat; needed once, never shown' })),
  username: words(),
  channel: words(),
  hostname: words(),
  token: Optional(Text({ maxLength: 255, description: 'Never shown' })),
  room: words(),
  thread: Optional(Int()),
  notify_only_broken_pipelines: Optional(Flag()),
  branches_to_be_notified: Optional(OneOf(branchChoices, {})),
  labels_to_be_notified: Optional(Text({ maxLength: 1024, description: 'Titles, separated by commas' })),
  labels_to_be_notified_behavior: Optional(OneOf(labelChoices, {})),
  ...Object.fromEntries(Object.values(channels).map((name) => [name, words()])),
  ...switches(() => Optional(Flag())),
  use_inherited_settings: Optional(Flag({ description: 'As the group above has it, if it has' })),
}

const basic = {
  id: Id(),
  title: Text(),
  slug: Text(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  active: Flag(),
  ...switches(() => Flag()),
  inherited: Flag({ description: 'It is that of a group above' }),
}
const Integration = Fields(basic)
const IntegrationDetails = Fields({
  ...basic,
  properties: Json({ description: 'What was set of it, without secrets' }),
})

const slugsOf = (place: store.PlaceKind) =>
  Object.entries(integrations).flatMap(([name, { ofProjects }]) =>
    ofProjects === true && place === 'group' ? [] : [slugOf(name)],
  )

type Sent = Properties & Readonly<Partial<Record<`${ToldOf}_events`, boolean>>>

interface Place<Kind extends SubjectKind> extends Keeper<Kind> {
  readonly place: store.PlaceKind
  readonly path: string
  readonly may: AbilityOf<Kind>
}
const ofProject = { ...keptByProject, place: 'project', may: 'admin_integrations' } as const
const ofGroup = { ...keptByGroup, place: 'group', may: 'admin_integrations' } as const

/** The integrations of projects and groups; those of projects have an older name as well. */
export function integrationEndpoints(services: DeliveryServices): Endpoint[] {
  return [
    ...endpointsOf(services, { ...ofProject, path: '/projects/:id/integrations' }),
    ...endpointsOf(services, { ...ofProject, path: '/projects/:id/services' }),
    ...endpointsOf(services, { ...ofGroup, path: '/groups/:id/integrations' }),
  ]
}

function endpointsOf<Kind extends SubjectKind>(
  { db, cipher, settings, outbound }: DeliveryServices,
  { place, on, path, called, may, owner }: Place<Kind>,
): Endpoint[] {
  const slug = OneOf(slugsOf(place), {})
  const one = {
    on,
    may,
    path: `${path}/:slug`,
    read: ({ params }: { params: { slug: string } }) => store.one(place, nameOf(params.slug)),
  } as const
  const open = ({ properties }: store.IntegrationRow): Properties =>
    JSON.parse(cipher.open(properties, contexts.properties)) as Properties
  const seal = (url: string, properties: Properties) => ({
    url: cipher.seal(url, contexts.url),
    properties: cipher.seal(JSON.stringify(properties), contexts.properties),
  })
  const shown = ({ id, integration: name, created_at, updated_at, ...row }: store.IntegrationRow) => ({
    id,
    title: integrations[name]!.title,
    slug: slugOf(name),
    created_at,
    updated_at,
    active: row.active && isAllowed(settings, name),
    ...Object.fromEntries(toldOf.map((trigger) => [`${trigger}_events`, row.triggers.includes(trigger)])),
    inherited: row.inherited,
  })
  const detailed = (row: store.IntegrationRow) => {
    const properties = open(row)
    const names = integrations[row.integration]!.takes.filter((name) => !secrets.has(name))
    return {
      ...shown(row),
      properties: Object.fromEntries(names.map((name) => [name, properties[name] ?? null])),
    } as never
  }
  /** What is set of it after this; what is sent empty is taken away. */
  const merged = (name: string, before: store.IntegrationRow | undefined, sent: Sent): Properties => {
    const all = { ...(before && open(before)), ...sent } as Readonly<Record<string, unknown>>
    return Object.fromEntries(
      integrations[name]!.takes.flatMap((field) =>
        all[field] === undefined || all[field] === '' ? [] : [[field, all[field]]],
      ),
    )
  }

  async function check(name: string, properties: Properties): Promise<void> {
    const { takes, needs, tells } = integrations[name]!
    const missing = needs.filter((field) => properties[field] === undefined)
    if (missing.length > 0) throw invalidParameters(missing.map((field) => `${field} is missing`))
    if (tells?.address === undefined) return
    const url = URL.parse(tells.address(properties))
    const field = takes.includes('webhook') ? 'webhook' : 'hostname'
    if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}` !== '')
      throw invalid({ [field]: ['must be a valid URL'] })
    const refusal = await outbound.refusal(url.href)
    if (refusal !== undefined) throw invalid({ [field]: [`is blocked: ${refusal}`] })
  }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the active integrations of ${called}`,
      on,
      may,
      paged: true,
      answers: ListOf(Integration),
      read: ({ page }) => {
        const allowed = Object.keys(integrations).filter((name) => isAllowed(settings, name))
        return store.list(place, allowed, page)
      },
      handle: async ({ rows }) => rows.map(shown) as never,
    }),

    endpoint({
      ...one,
      method: 'GET',
      record: true,
      summary: `Get an integration of ${called}`,
      params: Fields({ slug }),
      answers: IntegrationDetails,
      handle: async ({ rows }) => detailed(rows[0]!),
    }),

    endpoint({
      ...one,
      method: 'PUT',
      summary: `Set an integration of ${called}`,
      description: 'It becomes active. What is not said stays as it was.',
      params: Fields({ slug, ...settable }),
      answers: IntegrationDetails,
      refuses: {
        400: 'The address is none, or may not be called',
        403: 'The instance does not allow it',
        422: 'It is an app that is not installed',
      },
      async handle(call) {
        const { slug: asked, use_inherited_settings: inherit, ...given } = call.params
        const name = nameOf(asked)
        const sent = given as Sent
        if (!isAllowed(settings, name)) throw forbidden()
        if (inherit === true) {
          const above = await db.transaction((tx) => store.inherit(tx, owner(call), name))
          if (above !== undefined) return detailed(above)
        }
        // Who waits for a name to be resolved holds no row.
        await check(
          name,
          merged(
            name,
            call.rows.find((row) => !row.inherited),
            sent,
          ),
        )
        return db.transaction(async (tx) => {
          const before = await store.lockOwn(tx, owner(call), name)
          if (name === appIntegration && before?.active !== true)
            throw unprocessable('The app is installed from the page of the project, not by the API')
          const properties = merged(name, before, sent)
          const { tells } = integrations[name]!
          const triggers = toldOf.filter(
            (trigger) =>
              tells !== undefined &&
              (sent[`${trigger}_events`] ?? (before?.triggers ?? usual).includes(trigger)),
          )
          const sealed = seal(tells?.address?.(properties) ?? '', properties)
          return detailed(await store.save(tx, owner(call), name, { active: true, triggers, ...sealed }))
        })
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      record: true,
      summary: `Disable an integration of ${called}`,
      description: 'What was set of it is forgotten. That of a group above is not used any more either.',
      params: Fields({ slug }),
      answers: null,
      async handle(call) {
        const name = nameOf(call.params.slug)
        const triggers = integrations[name]!.tells === undefined ? [] : usual
        const values = { active: false, triggers, ...seal('', {}) }
        await db.transaction((tx) => store.save(tx, owner(call), name, values))
      },
    }),
  ]
}

import { endpoint, group, instance, project, userOf, type Actor } from '../../access/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import { Fields, Flag, Json, OneOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { defaultLevel, eventNames, levels, onByDefault, type Level } from './levels.ts'
import type { NotificationServices } from './index.ts'
import * as store from './store.ts'
import type { Place, SettingRow } from './store.ts'

const Setting = Fields({
  level: Text({ description: levels.join(', ') }),
  notification_email: Optional(Text({ description: 'Where mails go; of the account only' })),
  events: Optional(Json({ description: 'What is told of; with the level `custom` only' })),
})

const changes = Fields({
  level: Optional(OneOf(levels, {})),
  notification_email: Optional(Text({ maxLength: 255, description: 'Of the account; its own address' })),
  ...Object.fromEntries(eventNames.map((name) => [name, Optional(Flag())])),
})

/** How much the caller wants to be told of, everywhere or in one place. */
export function settingEndpoints({ db }: NotificationServices): Endpoint[] {
  const show = (actor: Actor, place: Place, row: SettingRow | undefined) => {
    const account = place.projectId === undefined && place.namespaceId === undefined
    const { level, events, notification_email } = row ?? fallback(account)
    return {
      level,
      ...(account && { notification_email: notification_email ?? userOf(actor).email }),
      ...(level === 'custom' && {
        events: Object.fromEntries(eventNames.map((name) => [name, events[name] ?? onByDefault.has(name)])),
      }),
    }
  }
  const read = async (actor: Actor, place: Place) =>
    show(actor, place, await store.find(db.reader, userOf(actor).id, place))
  const change = (actor: Actor, place: Place, sent: Readonly<Record<string, unknown>>) =>
    db.transaction(async (tx) => {
      const account = place.projectId === undefined && place.namespaceId === undefined
      const before = (await store.find(tx, userOf(actor).id, place)) ?? fallback(account)
      const level = (sent['level'] as Level | undefined) ?? before.level
      if (account && level === 'global') throw badRequest('level does not have a valid value')
      const given = Object.entries(sent).filter(([name, value]) => isEvent(name) && value !== undefined)
      const row: SettingRow = {
        level,
        events: { ...before.events, ...Object.fromEntries(given) },
        notification_email: account ? addressOf(actor, sent['notification_email'], before) : null,
      }
      await store.write(tx, userOf(actor).id, place, row)
      return show(actor, place, row)
    })
  const rules = { atLeastOneOf: [['level', 'notification_email', ...eventNames]] }

  return [
    endpoint({
      method: 'GET',
      path: '/notification_settings',
      summary: 'Get what the caller is told of where nothing else is said',
      on: instance,
      may: 'read_instance',
      params: Fields({}),
      answers: Setting,
      handle: ({ actor }) => read(actor, {}),
    }),
    endpoint({
      method: 'PUT',
      path: '/notification_settings',
      summary: 'Change what the caller is told of where nothing else is said',
      on: instance,
      may: 'read_instance',
      params: changes,
      rules,
      answers: Setting,
      handle: ({ actor, params }) => change(actor, {}, params),
    }),
    endpoint({
      method: 'GET',
      path: '/projects/:id/notification_settings',
      summary: 'Get what the caller is told of in a project',
      on: project,
      may: 'read_project',
      params: Fields({}),
      answers: Setting,
      handle: ({ actor, project: of }) => read(actor, { projectId: of.id }),
    }),
    endpoint({
      method: 'PUT',
      path: '/projects/:id/notification_settings',
      whileArchived: true,
      summary: 'Change what the caller is told of in a project',
      on: project,
      may: 'read_project',
      params: changes,
      rules,
      answers: Setting,
      handle: ({ actor, project: of, params }) => change(actor, { projectId: of.id }, params),
    }),
    endpoint({
      method: 'GET',
      path: '/groups/:id/notification_settings',
      summary: 'Get what the caller is told of in a group',
      on: group,
      may: 'read_group',
      params: Fields({}),
      answers: Setting,
      handle: ({ actor, group: of }) => read(actor, { namespaceId: of.id }),
    }),
    endpoint({
      method: 'PUT',
      path: '/groups/:id/notification_settings',
      whileArchived: true,
      summary: 'Change what the caller is told of in a group',
      on: group,
      may: 'read_group',
      params: changes,
      rules,
      answers: Setting,
      handle: ({ actor, group: of, params }) => change(actor, { namespaceId: of.id }, params),
    }),
  ]
}

function fallback(account: boolean): SettingRow {
  return { level: account ? defaultLevel : 'global', events: {}, notification_email: null }
}

function isEvent(name: string): boolean {
  return (eventNames as readonly string[]).includes(name)
}

/** Mails go to an address that is known to be the caller's. */
function addressOf(actor: Actor, sent: unknown, before: SettingRow): string | null {
  if (typeof sent !== 'string') return before.notification_email
  const { email, publicEmail } = userOf(actor)
  const own = [email, publicEmail].find((one) => one?.toLowerCase() === sent.trim().toLowerCase())
  if (own === undefined) throw badRequest('notification_email is not an email you own')
  return own === null ? null : own
}

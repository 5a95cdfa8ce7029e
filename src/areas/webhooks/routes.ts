import { endpoint } from '../../access/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { invalidParameters, recordNotFound } from '../../kernel/errors/index.ts'
import { outboundOf, type DeliveryServices } from './deliver.ts'
import { hookEntity, hookSchema } from './entities.ts'
import { addressOf, openHook, sealHook, type Hook, type HookValues, type Pairs } from './hook.ts'
import { blankHook, changed, hookParams } from './params.ts'
import type { Place } from './places.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The endpoints of one place: the rules and the store are the same for all. */
export function hookEndpoints<Kind extends SubjectKind>(
  services: DeliveryServices,
  { kind, on, path, called, may, owner }: Place<Kind>,
): Endpoint[] {
  const { db, cipher } = services
  const schema = hookSchema(kind)
  const shown = (hook: Hook) => hookEntity(hook, kind) as never
  const one = {
    on,
    may,
    record: true,
    read: ({ params }: { params: { hook_id: number } }) => store.one(kind, params.hook_id),
  } as const

  async function check(values: HookValues): Promise<void> {
    rules.check(values)
    if ((await outboundOf(services, kind).refusal(addressOf(values))) !== undefined) throw rules.invalidUrl()
  }

  /** Changes a webhook as it is by then; who waits for a name to be resolved holds no row. */
  async function change(id: number, to: (before: HookValues) => HookValues): Promise<Hook> {
    const before = await store.find(db.reader, id)
    if (before === undefined) throw recordNotFound()
    await check(to(openHook(before, cipher)))
    return db.transaction(async (tx) => {
      const row = await store.lock(tx, id)
      if (row === undefined) throw recordNotFound()
      const values = to(openHook(row, cipher))
      rules.check(values)
      return openHook(await store.change(tx, id, sealHook(values, cipher)), cipher)
    })
  }

  /** Secret values by name: of headers, and of the address. */
  const pairEndpoints = (
    name: 'custom_headers' | 'url_variables',
    what: string,
    checkKey: (key: string) => void,
  ): Endpoint[] => [
    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/:hook_id/${name}/:key`,
      summary: `Set ${what} of a webhook of ${called}`,
      params: Fields({ hook_id: Id(), key: Text(), value: Text() }),
      answers: null,
      async handle({ params: { hook_id, key, value } }) {
        checkKey(key)
        await change(hook_id, (before) => ({ ...before, [name]: { ...before[name], [key]: value } }))
      },
    }),
    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:hook_id/${name}/:key`,
      summary: `Take ${what} from a webhook of ${called}`,
      params: Fields({ hook_id: Id(), key: Text() }),
      answers: null,
      async handle({ params: { hook_id, key }, rows }) {
        if (!Object.hasOwn(openHook(rows[0]!, cipher)[name], key)) throw recordNotFound()
        await change(hook_id, (before) => ({ ...before, [name]: without(before[name], key) }))
      },
    }),
  ]

  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the webhooks of ${called}`,
      on,
      may,
      paged: true,
      answers: ListOf(schema),
      read: ({ page }) => store.list(kind, page),
      handle: async ({ rows }) => rows.map((row) => shown(openHook(row, cipher))),
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: `${path}/:hook_id`,
      summary: `Get a webhook of ${called}`,
      params: Fields({ hook_id: Id() }),
      answers: schema,
      handle: async ({ rows }) => shown(openHook(rows[0]!, cipher)),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Add a webhook to ${called}`,
      on,
      may,
      params: Fields({ url: Text({ description: 'May hold `{variable}`s' }), ...hookParams(kind) }),
      answers: schema,
      refuses: { 422: 'Address, branch filter or headers are no good, or there are too many webhooks' },
      async handle(call) {
        const values = changed(kind, blankHook(kind), call.params)
        await check(values)
        const row = await db.transaction((tx) => store.create(tx, owner(call), sealHook(values, cipher)))
        return shown(openHook(row, cipher))
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/:hook_id`,
      summary: `Change a webhook of ${called}`,
      params: Fields({ hook_id: Id(), url: Optional(Text()), ...hookParams(kind) }),
      answers: schema,
      refuses: { 422: 'Address, branch filter or headers are no good' },
      async handle({ params: { hook_id, ...sent } }) {
        const said = ['url', ...Object.keys(hookParams(kind))].some((name) => Object.hasOwn(sent, name))
        if (!said) throw invalidParameters(['No parameters provided'])
        return shown(await change(hook_id, (before) => changed(kind, before, sent)))
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:hook_id`,
      summary: `Delete a webhook of ${called}`,
      params: Fields({ hook_id: Id() }),
      answers: null,
      refuses: whenChanged,
      async handle({ params, rows, request }) {
        requireUnmodified(request, rows[0]!.updated_at)
        await store.remove(db.writer, params.hook_id)
      },
    }),

    ...pairEndpoints('custom_headers', 'a header', () => undefined),
    ...pairEndpoints('url_variables', 'a variable of the address', rules.checkVariableName),
  ]
}

function without(pairs: Pairs, key: string): Pairs {
  return Object.fromEntries(Object.entries(pairs).filter(([name]) => name !== key))
}

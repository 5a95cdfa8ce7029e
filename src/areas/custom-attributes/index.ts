import { endpoint, group, instance, project } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { Fields, Flag, Hash, Id, ListOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import * as store from './store.ts'
import type { Owner } from './store.ts'

export { attributesColumn, attributesFilter, type Attribute } from './store.ts'

export const CustomAttribute = Fields({ key: Text(), value: Text() })

const forAdministrators = 'For administrators'
export const withAttributesParam = {
  with_custom_attributes: Optional(Flag({ description: `With \`custom_attributes\`. ${forAdministrators}` })),
}

/** To be spread into the parameters of a list of what has attributes. */
export const attributeParams = {
  ...withAttributesParam,
  custom_attributes: Optional(
    Hash(Text(), {
      description: `What has these: \`custom_attributes[key]=value\`. ${forAdministrators}`,
    }),
  ),
}

/** What the parameters of a list ask for. */
export interface AttributeFilter {
  readonly with_custom_attributes?: boolean | undefined
  readonly custom_attributes?: Readonly<Record<string, string>> | undefined
}
const key = Text({ maxLength: 255 })
const value = Text({ maxLength: 255, description: 'Anything that another system wants to find here' })

/** Notes of administrators on users, groups and projects, by key. */
export function customAttributes({ db }: { readonly db: Database }): { endpoints: Endpoint[] } {
  return { endpoints: [...ofUsers(db), ...ofPlaces(db, 'group'), ...ofPlaces(db, 'project')] }
}

function summaries(of: string) {
  return {
    list: `List the custom attributes of ${of}`,
    get: `Get a custom attribute of ${of}`,
    put: `Set a custom attribute of ${of}`,
    delete: `Delete a custom attribute of ${of}`,
  }
}

async function set(db: Database, owner: Owner, attribute: store.Attribute): Promise<store.Attribute> {
  await db.transaction((tx) => store.put(tx, owner, attribute))
  return attribute
}

async function remove(db: Database, owner: Owner, name: string): Promise<void> {
  if (!(await db.transaction((tx) => store.remove(tx, owner, name)))) throw notFound('Custom Attribute')
}

const record = 'Custom Attribute'
const refuses = { 404: 'No such attribute' }

function ofUsers(db: Database): Endpoint[] {
  const path = '/users/:id/custom_attributes'
  const about = { on: instance, may: 'admin_users' } as const
  const says = summaries('a user')
  const whose = (id: number) => ({ kind: 'user', id: sql`${id}::bigint` }) as const
  return [
    endpoint({
      ...about,
      method: 'GET',
      path,
      summary: says.list,
      paged: true,
      params: Fields({ id: Id() }),
      answers: ListOf(CustomAttribute),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => store.list(whose(params.id), page),
      async handle({ params, rows }) {
        const there = rows.length > 0 || (await db.transaction((tx) => store.userExists(tx, params.id)))
        if (!there) throw notFound('User')
        return rows
      },
    }),
    endpoint({
      ...about,
      method: 'GET',
      path: `${path}/:key`,
      summary: says.get,
      params: Fields({ id: Id(), key }),
      record,
      answers: CustomAttribute,
      refuses,
      read: ({ params }) => store.one(whose(params.id), params.key),
      handle: async ({ rows }) => rows[0],
    }),
    endpoint({
      ...about,
      method: 'PUT',
      path: `${path}/:key`,
      summary: says.put,
      params: Fields({ id: Id(), key, value }),
      answers: CustomAttribute,
      refuses: { 404: 'No such user' },
      handle: ({ params }) => set(db, { kind: 'user', id: params.id }, params),
    }),
    endpoint({
      ...about,
      method: 'DELETE',
      path: `${path}/:key`,
      summary: says.delete,
      params: Fields({ id: Id(), key }),
      answers: null,
      refuses,
      handle: ({ params }) => remove(db, { kind: 'user', id: params.id }, params.key),
    }),
  ]
}

function ofPlaces(db: Database, kind: 'group' | 'project'): Endpoint[] {
  const path = `/${kind}s/:id/custom_attributes`
  const about = { on: kind === 'group' ? group : project, may: 'admin_custom_attribute' } as const
  const says = summaries(`a ${kind}`)
  const whose = { kind, id: sql`subject.id` } as const
  return [
    endpoint({
      ...about,
      method: 'GET',
      path,
      summary: says.list,
      paged: true,
      answers: ListOf(CustomAttribute),
      read: ({ page }) => store.list(whose, page),
      handle: async ({ rows }) => rows,
    }),
    endpoint({
      ...about,
      method: 'GET',
      path: `${path}/:key`,
      summary: says.get,
      params: Fields({ key }),
      record,
      answers: CustomAttribute,
      refuses,
      read: ({ params }) => store.one(whose, params.key),
      handle: async ({ rows }) => rows[0],
    }),
    endpoint({
      ...about,
      method: 'PUT',
      path: `${path}/:key`,
      whileArchived: true,
      summary: says.put,
      params: Fields({ key, value }),
      answers: CustomAttribute,
      handle(call) {
        const { id } = kind === 'group' ? call.group : call.project
        return set(db, { kind, id }, call.params)
      },
    }),
    endpoint({
      ...about,
      method: 'DELETE',
      path: `${path}/:key`,
      whileArchived: true,
      summary: says.delete,
      params: Fields({ key }),
      answers: null,
      refuses,
      handle(call) {
        const { id } = kind === 'group' ? call.group : call.project
        return remove(db, { kind, id }, call.params.key)
      },
    }),
  ]
}

import { endpoint } from '../../access/index.ts'
import {
  Fields,
  Flag,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Check,
  type Endpoint,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { secretContext, UnscopedVariable, variable, Variable, variableWith } from './entities.ts'
import type { VariableServices } from './index.ts'
import type { Place } from './places.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Values are secrets: nothing is said of the parameters before the role is known (conventions, 1.6). */
const checks: readonly Check[] = ['credentials', 'subject', 'may', 'params', 'record']

/** Which of several variables of a key is meant. */
export const filter = {
  filter: Optional(
    Fields({
      environment_scope: Optional(Text({ description: 'Exact scope of the variable that is meant' })),
    }),
  ),
}
const scope = { environment_scope: Optional(Text({ maxLength: 255 })) }

const options = {
  description: Optional(Nullable(Text({ maxLength: 255 }))),
  masked: Optional(Flag()),
  protected: Optional(Flag()),
  raw: Optional(Flag({ description: 'References in the value are not expanded' })),
  variable_type: Optional(OneOf('env_var', 'file')),
}

/** The endpoints of one place: the rules and the store are the same for all. */
export function variableEndpoints<Kind extends SubjectKind>(
  { db, cipher, settings }: VariableServices,
  { kind, on, path, called, reading, writing, owner }: Place<Kind>,
): Endpoint[] {
  const { scoped, singular } = rules.placeRules[kind]
  // Parameters that are not declared are never there, as optional ones may be.
  const filtered = scoped ? filter : ({} as typeof filter)
  const settable = { ...options, ...(scoped ? scope : ({} as typeof scope)) }
  const answers = scoped ? Variable : UnscopedVariable
  const key = Text()
  const creations = db.gathered(store.createAll(kind))
  const refuses = {
    404: `No such variable: \`404 ${singular} Not Found\``,
    ...(scoped && { 409: 'Several variables have this key' }),
  }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the CI/CD variables of ${called}`,
      on,
      may: reading,
      checks,
      paged: true,
      answers: ListOf(answers),
      read: ({ page }) => store.list(kind, page),
      handle: async ({ rows }) => rows.map((row) => variable(row, cipher)),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:key`,
      summary: `Get a CI/CD variable of ${called}`,
      on,
      may: reading,
      checks,
      params: Fields({ key, ...filtered }),
      answers,
      refuses,
      read: ({ params }) => store.ofKey(kind, params.key),
      handle: async ({ rows, params }) =>
        variable(rules.only(kind, rows, params.filter?.environment_scope), cipher),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a CI/CD variable of ${called}`,
      on,
      may: writing,
      checks,
      params: Fields({
        key: Text({ maxLength: 255 }),
        value: Text(),
        ...settable,
        masked_and_hidden: Optional(Flag({ description: 'Masked, and never shown again' })),
      }),
      answers,
      async handle(call) {
        const { params } = call
        const state = {
          type: params.variable_type ?? 'env_var',
          key: params.key.trim(),
          value: params.value,
          environmentScope: (params.environment_scope ?? '*').trim(),
          description: params.description ?? null,
          masked: (params.masked ?? false) || (params.masked_and_hidden ?? false),
          raw: params.raw ?? false,
        }
        rules.check(kind, state)
        const values = {
          key: state.key,
          secret: cipher.seal(state.value, secretContext),
          variable_type: state.type,
          environment_scope: state.environmentScope,
          description: state.description,
          protected: params.protected ?? false,
          masked: state.masked,
          hidden: params.masked_and_hidden ?? false,
          raw: state.raw,
        }
        const most =
          kind === 'instance' ? settings.limits.ci_instance_level_variables : rules.placeRules[kind].maximum
        const row = await store.create(creations, owner(call), values, most)
        return variableWith(row, state.value)
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:key`,
      summary: `Change a CI/CD variable of ${called}`,
      on,
      may: writing,
      checks,
      params: Fields({
        key,
        value: Optional(Text({ description: 'Required, unless the variable is hidden' })),
        ...filtered,
        ...settable,
        hidden: Optional(Flag({ description: 'Cannot be changed' })),
        masked_and_hidden: Optional(Flag({ description: 'Cannot be changed' })),
      }),
      answers,
      refuses,
      async handle(call) {
        const { params } = call
        return db.transaction(async (tx) => {
          const candidates = await store.lockKey(tx, owner(call), params.key)
          const wanted = params.filter?.environment_scope
          rules.requireValue(params.value, candidates, wanted)
          const before = rules.only(kind, candidates, wanted)
          const state = {
            type: params.variable_type ?? before.variable_type,
            key: before.key,
            value: params.value ?? cipher.open(before.secret, secretContext),
            environmentScope: params.environment_scope?.trim() ?? before.environment_scope,
            description: params.description === undefined ? before.description : params.description,
            masked: params.masked ?? before.masked,
            raw: params.raw ?? before.raw,
          }
          const hidden = params.hidden ?? (before.hidden || params.masked_and_hidden === true)
          rules.checkVisibility(before, { masked: state.masked, hidden })
          rules.check(kind, state)
          const row = await store.change(tx, before.id, {
            ...before,
            secret: cipher.seal(state.value, secretContext),
            variable_type: state.type,
            environment_scope: state.environmentScope,
            description: state.description,
            protected: params.protected ?? before.protected,
            masked: state.masked,
            raw: state.raw,
          })
          return variableWith(row, state.value)
        })
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:key`,
      summary: `Delete a CI/CD variable of ${called}`,
      on,
      may: writing,
      checks,
      params: Fields({ key, ...filtered }),
      answers: null,
      refuses,
      async handle(call) {
        const { params } = call
        await db.transaction(async (tx) => {
          const candidates = await store.lockKey(tx, owner(call), params.key)
          await store.remove(tx, rules.only(kind, candidates, params.filter?.environment_scope).id)
        })
      },
    }),
  ]
}

import { endpoint, project } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
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
} from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { secretContext, variable, Variable } from './entities.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Values are secrets: nothing is said of the parameters before the role is known (conventions, 1.6). */
const checks: readonly Check[] = ['credentials', 'subject', 'may', 'params', 'record']

const filter = Optional(
  Fields({ environment_scope: Optional(Text({ description: 'Exact scope of the variable that is meant' })) }),
)

const options = {
  description: Optional(Nullable(Text({ maxLength: 255 }))),
  environment_scope: Optional(Text({ maxLength: 255 })),
  masked: Optional(Flag()),
  protected: Optional(Flag()),
  raw: Optional(Flag({ description: 'References in the value are not expanded' })),
  variable_type: Optional(OneOf('env_var', 'file')),
}

export function variableEndpoints({ db, cipher }: { db: Database; cipher: Cipher }): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/variables',
      summary: 'List the CI/CD variables of a project',
      on: project,
      may: 'read_cicd_variables',
      checks,
      paged: true,
      answers: ListOf(Variable),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows.map((row) => variable(row, cipher)),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/variables/:key',
      summary: 'Get a CI/CD variable of a project',
      on: project,
      may: 'read_cicd_variables',
      checks,
      params: Fields({ filter }),
      answers: Variable,
      refuses: { 404: 'No such variable', 409: 'Several variables have this key' },
      read: ({ params }) => store.ofKey(params.key),
      handle: async ({ rows, params }) =>
        variable(rules.only(rows, params.filter?.environment_scope), cipher),
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/variables',
      summary: 'Create a CI/CD variable in a project',
      on: project,
      may: 'admin_cicd_variables',
      checks,
      params: Fields({
        key: Text({ maxLength: 255 }),
        value: Text(),
        ...options,
        masked_and_hidden: Optional(Flag({ description: 'Masked, and never shown again' })),
      }),
      answers: Variable,
      async handle({ project, params }) {
        const state = {
          key: params.key.trim(),
          value: params.value,
          environmentScope: (params.environment_scope ?? '*').trim(),
          description: params.description ?? null,
          masked: (params.masked ?? false) || (params.masked_and_hidden ?? false),
          raw: params.raw ?? false,
        }
        rules.check(state)
        const row = await store.create(db.writer, project.id, {
          key: state.key,
          secret: cipher.seal(state.value, secretContext),
          variable_type: params.variable_type ?? 'env_var',
          environment_scope: state.environmentScope,
          description: state.description,
          protected: params.protected ?? false,
          masked: state.masked,
          hidden: params.masked_and_hidden ?? false,
          raw: state.raw,
        })
        return variable(row, cipher)
      },
    }),

    endpoint({
      method: 'PUT',
      path: '/projects/:id/variables/:key',
      summary: 'Change a CI/CD variable of a project',
      on: project,
      may: 'admin_cicd_variables',
      checks,
      params: Fields({
        key: Text(),
        value: Text(),
        filter,
        ...options,
        hidden: Optional(Flag({ description: 'Cannot be changed' })),
        masked_and_hidden: Optional(Flag({ description: 'Cannot be changed' })),
      }),
      answers: Variable,
      refuses: { 404: 'No such variable', 409: 'Several variables have this key' },
      async handle({ project, params }) {
        return db.transaction(async (tx) => {
          const before = rules.only(
            await store.lockKey(tx, project.id, params.key),
            params.filter?.environment_scope,
          )
          const state = {
            key: before.key,
            value: params.value,
            environmentScope: params.environment_scope?.trim() ?? before.environment_scope,
            description: params.description === undefined ? before.description : params.description,
            masked: params.masked ?? before.masked,
            raw: params.raw ?? before.raw,
          }
          const hidden = params.hidden ?? (before.hidden || params.masked_and_hidden === true)
          rules.checkVisibility(before, { masked: state.masked, hidden })
          rules.check(state)
          const row = await store.change(tx, before.id, {
            ...before,
            secret: cipher.seal(state.value, secretContext),
            variable_type: params.variable_type ?? before.variable_type,
            environment_scope: state.environmentScope,
            description: state.description,
            protected: params.protected ?? before.protected,
            masked: state.masked,
            raw: state.raw,
          })
          return variable(row, cipher)
        })
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/projects/:id/variables/:key',
      summary: 'Delete a CI/CD variable of a project',
      on: project,
      may: 'admin_cicd_variables',
      checks,
      params: Fields({ filter }),
      answers: null,
      refuses: { 404: 'No such variable', 409: 'Several variables have this key' },
      async handle({ project, params }) {
        await db.transaction(async (tx) => {
          const candidates = await store.lockKey(tx, project.id, params.key)
          await store.remove(tx, rules.only(candidates, params.filter?.environment_scope).id)
        })
      },
    }),
  ]
}

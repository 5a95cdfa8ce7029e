import { endpoint, project } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
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
import { invalid, notFound } from '../../kernel/errors/index.ts'
import { featureFlag, FeatureFlag, flagVersion } from './entities.ts'
import type { FlagServices } from './index.ts'
import { announce } from './news.ts'
import { changedStrategies, newStrategies, strategiesAfter, strategiesOf } from './requested.ts'
import { checkFlag, checkStrategies, type Strategy } from './rules.ts'
import * as store from './store.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const path = '/projects/:id/feature_flags'
const record = 'Feature Flag'

export function flagEndpoints(services: FlagServices): Endpoint[] {
  const { db } = services
  const one = {
    on: project,
    checks,
    path: `${path}/:feature_flag_name`,
    record,
    read: ({ params }: { params: { feature_flag_name: string } }) => store.named(params.feature_flag_name),
  } as const
  const refuses = { 400: 'The name, or a strategy, is none' }
  const check = async (tx: Tx, projectId: number, strategies: readonly Strategy[]): Promise<void> => {
    checkStrategies(strategies)
    const wanted = strategies.flatMap(({ userListId }) => userListId ?? [])
    const known = await store.listsAmong(tx, projectId, wanted)
    if (wanted.some((id) => !known.has(id)))
      throw invalid({ 'strategies.user_list': ['must belong to the same project'] })
  }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the feature flags of a project',
      on: project,
      may: 'read_feature_flag',
      checks,
      paged: true,
      params: Fields({ scope: Optional(OneOf(['enabled', 'disabled'], {})) }),
      answers: ListOf(FeatureFlag),
      read: ({ params, page }) => store.list(params.scope && params.scope === 'enabled', page),
      handle: async ({ rows }) => rows.map(featureFlag),
    }),

    endpoint({
      ...one,
      method: 'GET',
      summary: 'Get a feature flag',
      may: 'read_feature_flag',
      answers: FeatureFlag,
      handle: async ({ rows }) => featureFlag(rows[0]!),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create a feature flag',
      description: 'One that no strategy switches on for an environment is off there.',
      on: project,
      may: 'admin_feature_flag',
      checks,
      params: Fields({
        name: Text(),
        version: OneOf([flagVersion], { default: flagVersion }),
        description: Optional(Nullable(Text())),
        active: Flag({ default: true }),
        strategies: newStrategies,
      }),
      answers: FeatureFlag,
      refuses,
      async handle({ project, params }) {
        const { name, description = null, active } = params
        const strategies = strategiesOf(params.strategies)
        checkFlag({ name, description })
        return db.transaction(async (tx) => {
          await check(tx, project.id, strategies)
          const id = await store.create(tx, project.id, { name, description, active })
          for (const strategy of strategies) await store.addStrategy(tx, id, strategy)
          return featureFlag((await store.find(tx, id))!)
        })
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      summary: 'Change a feature flag',
      may: 'admin_feature_flag',
      params: Fields({
        feature_flag_name: Text(),
        name: Optional(Text()),
        description: Optional(Nullable(Text())),
        active: Optional(Flag()),
        strategies: changedStrategies,
      }),
      answers: FeatureFlag,
      refuses,
      handle: ({ actor, project, params, rows }) =>
        db.transaction(async (tx) => {
          const before = await store.lock(tx, rows[0]!.id)
          if (before === undefined) throw notFound(record)
          const values = {
            name: params.name ?? before.name,
            description: params.description === undefined ? before.description : params.description,
            active: params.active ?? before.active,
          }
          checkFlag(values)
          const strategies = strategiesAfter(before.strategies, params.strategies)
          await check(tx, project.id, strategies)
          await store.change(tx, before.id, values)
          await store.removeOtherStrategies(
            tx,
            before.id,
            strategies.flatMap(({ id }) => id ?? []),
          )
          for (const strategy of strategies) {
            if (strategy.id === undefined) await store.addStrategy(tx, before.id, strategy)
            else await store.changeStrategy(tx, strategy.id, strategy)
          }
          const after = (await store.find(tx, before.id))!
          if (after.active !== before.active) await announce(services, tx, { actor, project }, after)
          return featureFlag(after)
        }),
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      summary: 'Delete a feature flag',
      may: 'admin_feature_flag',
      status: 200,
      answers: FeatureFlag,
      async handle({ rows }) {
        await store.remove(db.writer, rows[0]!.id)
        return featureFlag(rows[0]!)
      },
    }),
  ]
}

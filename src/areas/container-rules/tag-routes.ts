import { endpoint, project } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import { tagRule, TagRule } from './entities.ts'
import { checks, projectId } from './routes.ts'
import { levelOf, levelWords } from './rules.ts'
import { checkTagRule } from './tag-rules.ts'
import * as store from './tag-store.ts'

const path = '/projects/:id/registry/protection/tag/rules'
const ruleId = { protection_rule_id: Id() }
const Pattern = Text({ description: 'RE2 pattern; a tag in which it is found is protected' })
const NewLevel = Nullable(OneOf(levelWords, {}))
const ChangedLevel = Nullable(OneOf([...levelWords, ''], { description: 'Empty: the rule asks for none' }))
const refuses = { 422: 'The rule is not valid, its pattern is taken, or there are five already' }

export function tagRuleEndpoints({ db, plan }: { db: Database; plan: Plan }): Endpoint[] {
  const paid = offers(plan, 'immutable_tags')
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the protection rules for container tags of a project',
      on: project,
      may: 'read_container_rule',
      checks,
      params: Fields(projectId),
      paged: true,
      answers: ListOf(TagRule),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows.map(tagRule),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Protect the container tags of a pattern',
      description: 'Without levels nobody may push over such a tag or delete it.',
      on: project,
      may: 'admin_container_rule',
      checks,
      params: Fields({
        ...projectId,
        tag_name_pattern: Pattern,
        minimum_access_level_for_push: Optional(NewLevel),
        minimum_access_level_for_delete: Optional(NewLevel),
      }),
      answers: TagRule,
      refuses,
      async handle({ project, params }) {
        const values = {
          tag_name_pattern: params.tag_name_pattern,
          minimum_push: levelOf(params.minimum_access_level_for_push ?? null),
          minimum_delete: levelOf(params.minimum_access_level_for_delete ?? null),
        }
        checkTagRule(values, paid)
        return tagRule(await db.transaction((tx) => store.create(tx, project.id, values)))
      },
    }),

    endpoint({
      method: 'PATCH',
      path: `${path}/:protection_rule_id`,
      summary: 'Change a protection rule for container tags',
      on: project,
      may: 'admin_container_rule',
      checks,
      record: true,
      params: Fields({
        ...projectId,
        ...ruleId,
        tag_name_pattern: Optional(Pattern),
        minimum_access_level_for_push: Optional(ChangedLevel),
        minimum_access_level_for_delete: Optional(ChangedLevel),
      }),
      answers: TagRule,
      refuses,
      read: ({ params }) => store.ofId(params.protection_rule_id),
      handle: ({ project, params }) =>
        db.transaction(async (tx) => {
          const before = await store.lock(tx, project.id, params.protection_rule_id)
          if (before === undefined) throw recordNotFound()
          const { minimum_access_level_for_push: push, minimum_access_level_for_delete: remove } = params
          const values = {
            tag_name_pattern: params.tag_name_pattern ?? before.tag_name_pattern,
            minimum_push: push === undefined ? before.minimum_push : levelOf(push),
            minimum_delete: remove === undefined ? before.minimum_delete : levelOf(remove),
          }
          checkTagRule(values, paid)
          return tagRule(await store.change(tx, before.id, values))
        }),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:protection_rule_id`,
      summary: 'Delete a protection rule for container tags',
      on: project,
      may: 'admin_container_rule',
      checks,
      record: true,
      params: Fields({ ...projectId, ...ruleId }),
      answers: null,
      refuses: whenChanged,
      read: ({ params }) => store.ofId(params.protection_rule_id),
      handle: ({ project, params, request }) =>
        db.transaction(async (tx) => {
          const rule = await store.lock(tx, project.id, params.protection_rule_id)
          if (rule === undefined) throw recordNotFound()
          requireUnmodified(request, rule.updated_at)
          await store.remove(tx, rule.id)
        }),
    }),
  ]
}

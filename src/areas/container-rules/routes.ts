import { endpoint, may, project } from '../../access/index.ts'
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
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import { pathRule, PathRule, Preview, type PathRuleRow } from './entities.ts'
import {
  checkLevels,
  checkPattern,
  levelOf,
  levelWords,
  levelWord,
  matching,
  passes,
  strictest,
  type Action,
} from './rules.ts'
import * as store from './store.ts'

const path = '/projects/:id/registry/protection/repository/rules'

/** Parameters, credentials, project, role, record (conventions, 1.6). */
export const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']

/** A blank id names nothing. */
export const projectId = { id: Text({ pattern: '\\S', description: 'Id or full path of the project' }) }
const ruleId = { protection_rule_id: Id() }

const NewLevel = Nullable(OneOf(levelWords, {}))
const ChangedLevel = Nullable(OneOf([...levelWords, ''], { description: 'Empty: the rule asks for none' }))

const refuses = { 422: 'The rule is not valid, or its pattern is taken' }

export function pathRuleEndpoints({ db }: { db: Database }): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the protection rules for container repositories of a project',
      on: project,
      may: 'read_container_rule',
      checks,
      params: Fields(projectId),
      paged: true,
      answers: ListOf(PathRule),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows.map(pathRule),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Protect the container repositories of a path or wildcard',
      on: project,
      may: 'admin_container_rule',
      checks,
      params: Fields({
        ...projectId,
        repository_path_pattern: Text({
          description: "Begins with the project's full path; `*` is any text",
        }),
        minimum_access_level_for_push: Optional(NewLevel),
        minimum_access_level_for_delete: Optional(NewLevel),
      }),
      rules: { atLeastOneOf: [['minimum_access_level_for_push', 'minimum_access_level_for_delete']] },
      answers: PathRule,
      refuses,
      async handle({ project, params }) {
        const values = {
          pattern: checkPattern(params.repository_path_pattern, project),
          minimum_push: levelOf(params.minimum_access_level_for_push ?? null),
          minimum_delete: levelOf(params.minimum_access_level_for_delete ?? null),
        }
        checkLevels(values)
        return pathRule(await store.create(db.writer, project.id, values))
      },
    }),

    endpoint({
      method: 'PATCH',
      path: `${path}/:protection_rule_id`,
      summary: 'Change a protection rule for container repositories',
      on: project,
      may: 'admin_container_rule',
      checks,
      record: true,
      params: Fields({
        ...projectId,
        ...ruleId,
        repository_path_pattern: Optional(Text()),
        minimum_access_level_for_push: Optional(ChangedLevel),
        minimum_access_level_for_delete: Optional(ChangedLevel),
      }),
      answers: PathRule,
      refuses,
      read: ({ params }) => store.ofId(params.protection_rule_id),
      handle: ({ project, params }) =>
        db.transaction(async (tx) => {
          const before = await store.lock(tx, project.id, params.protection_rule_id)
          if (before === undefined) throw recordNotFound()
          const { minimum_access_level_for_push: push, minimum_access_level_for_delete: remove } = params
          const values = {
            pattern:
              params.repository_path_pattern === undefined
                ? before.repository_path_pattern.slice(project.fullPath.length)
                : checkPattern(params.repository_path_pattern, project),
            minimum_push: push === undefined ? before.minimum_push : levelOf(push),
            minimum_delete: remove === undefined ? before.minimum_delete : levelOf(remove),
          }
          checkLevels(values)
          return pathRule(await store.change(tx, before.id, values))
        }),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:protection_rule_id`,
      summary: 'Delete a protection rule for container repositories',
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

    endpoint({
      method: 'GET',
      path: '/projects/:id/registry/protection/repository/preview',
      summary: 'Tell who may push and delete a container repository, and by which rule',
      description: 'The repository need not exist. Of all rules that match its path the strictest counts.',
      on: project,
      may: 'read_container_rule',
      checks,
      params: Fields({
        ...projectId,
        repository_path: Text({ blank: false, description: 'Full path of an image, without host and tag' }),
      }),
      answers: Preview,
      read: () => store.all(),
      async handle({ actor, project, params, rows }) {
        const found = matching<PathRuleRow>(rows, params.repository_path)
        const preview = (action: Action) => {
          const rule = strictest(found, action)
          const level = rule === undefined ? null : rule[`minimum_${action}`]
          const usual = action === 'push' ? 'developer' : 'maintainer'
          const able = may(
            actor,
            action === 'push' ? 'create_container_image' : 'admin_container_image',
            project,
          )
          return {
            minimum_access_level: levelWord(level) ?? usual,
            rule: rule === undefined ? null : pathRule(rule),
            allowed: able && passes(found, action, actor, project),
          }
        }
        return {
          repository_path: params.repository_path,
          push: preview('push'),
          delete: preview('delete'),
          rules: found.map(pathRule),
        }
      },
    }),
  ]
}

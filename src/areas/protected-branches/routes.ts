import { endpoint, project, type ProjectSubject } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  ListOf,
  Optional,
  requireUnmodified,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { conflict, recordNotFound } from '../../kernel/errors/index.ts'
import { branchRule, protectedBranch, ProtectedBranch, type RuleRow } from './entities.ts'
import {
  changeParams,
  entryChanges,
  entryParams,
  levelParams,
  newEntries,
  requireMembers,
  requirePushingKeys,
} from './requested.ts'
import type { BranchRule } from './rules.ts'
import * as store from './store.ts'
import { isUnprotect, requireUnprotect } from './unprotecting.ts'

const path = '/projects/:id/protected_branches'
const changing: readonly Check[] = ['credentials', 'params', 'subject', 'record', 'may']

export function protectedBranchEndpoints({ db, plan }: { db: Database; plan: Plan }): Endpoint[] {
  const paid = plan !== 'free'
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the protected branches of a project',
      on: project,
      may: 'read_protected_branch',
      anonymous: true,
      paged: true,
      params: Fields({ search: Optional(Text({ description: 'Part of a name, in any letter case' })) }),
      answers: ListOf(ProtectedBranch),
      read: ({ params, page }) => store.list(params.search, page),
      handle: async ({ rows }) => rows.map(protectedBranch),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:name`,
      summary: 'Get a protected branch, or a wildcard by its own text',
      on: project,
      may: 'read_protected_branch',
      anonymous: true,
      checks: ['params', 'credentials', 'subject', 'may', 'record'],
      record: true,
      answers: ProtectedBranch,
      read: ({ params }) => store.named(params.name),
      handle: async ({ rows }) => protectedBranch(rows[0]!),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Protect a branch, or all branches of a wildcard',
      on: project,
      may: 'admin_protected_branch',
      params: Fields({
        name: Text({ blank: false, description: 'Branch or wildcard' }),
        allow_force_push: Flag({ default: false }),
        code_owner_approval_required: Flag({ default: false }),
        ...levelParams,
        ...entryParams,
      }),
      answers: ProtectedBranch,
      refuses: { 409: 'The name is protected already', 422: 'An entry is not allowed' },
      async handle({ actor, project, params }) {
        const {
          allowed_to_push: _push,
          allowed_to_merge: _merge,
          allowed_to_unprotect: _unprotect,
          ...free
        } = params
        const entries = newEntries(paid ? params : free)
        const saysWhoUnprotects =
          params.unprotect_access_level !== undefined || (params.allowed_to_unprotect ?? []).length > 0
        if (saysWhoUnprotects) requireUnprotect(entries.filter(isUnprotect), actor, project)
        const row = await db.transaction(async (tx) => {
          if ((await store.find(tx, project.id, params.name)) !== undefined) {
            throw conflict(`Protected branch '${params.name}' already exists`)
          }
          await checkMembers(tx, project.id, entries)
          await store.create(tx, project.id, {
            name: params.name,
            allowForcePush: params.allow_force_push,
            codeOwnerApprovalRequired: paid && params.code_owner_approval_required,
            entries,
          })
          return store.find(tx, project.id, params.name)
        })
        return protectedBranch(row!)
      },
    }),

    endpoint({
      method: 'PATCH',
      path: `${path}/:name`,
      summary: 'Change who may do what to a protected branch',
      on: project,
      may: 'admin_protected_branch',
      checks: changing,
      record: true,
      params: Fields({
        allow_force_push: Optional(Flag({ blank: false })),
        code_owner_approval_required: Optional(Flag()),
        ...changeParams,
      }),
      answers: ProtectedBranch,
      refuses: { 422: 'An entry is not allowed' },
      read: ({ params }) => store.named(params.name),
      handle: ({ actor, project, params }) =>
        db.transaction(async (tx) => {
          const rule = await lockRule(tx, project, params.name)
          requireUnprotect(rule.entries.filter(isUnprotect), actor, project)
          if (paid) {
            const { add, change, remove } = entryChanges(params, rule.entries)
            await checkMembers(tx, project.id, [...add, ...change.map(({ entry }) => entry)])
            await store.removeEntries(tx, remove)
            for (const { id, entry } of change) await store.changeEntry(tx, id, entry)
            await store.addEntries(tx, project.id, rule.id, add)
          }
          await store.change(tx, rule.id, {
            allowForcePush: params.allow_force_push ?? rule.allowForcePush,
            codeOwnerApprovalRequired:
              (paid ? params.code_owner_approval_required : undefined) ?? rule.codeOwnerApprovalRequired,
          })
          return protectedBranch((await store.find(tx, project.id, params.name))!)
        }),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:name`,
      summary: 'Unprotect a branch or wildcard',
      on: project,
      may: 'admin_protected_branch',
      checks: changing,
      record: true,
      answers: null,
      refuses: { 412: 'Changed since the date in If-Unmodified-Since' },
      read: ({ params }) => store.named(params.name),
      handle: ({ actor, project, params, request }) =>
        db.transaction(async (tx) => {
          const rule = await lockRule(tx, project, params.name)
          requireUnprotect(rule.entries.filter(isUnprotect), actor, project)
          requireUnmodified(request, await store.updatedAt(tx, rule.id))
          await store.remove(tx, rule.id)
        }),
    }),
  ]
}

async function lockRule(tx: Tx, project: ProjectSubject, name: string): Promise<BranchRule> {
  const row: RuleRow | undefined = await store.find(tx, project.id, name)
  if (row === undefined) throw recordNotFound()
  return branchRule(row)
}

async function checkMembers(tx: Tx, projectId: number, entries: readonly store.NewEntry[]): Promise<void> {
  const userIds = entries.flatMap(({ userId }) => userId ?? [])
  if (userIds.length > 0) requireMembers(entries, await store.membersAmong(tx, projectId, userIds))
  const keyIds = entries.flatMap(({ deployKeyId }) => deployKeyId ?? [])
  if (keyIds.length > 0) requirePushingKeys(entries, await store.pushingKeys(tx, projectId, keyIds))
}

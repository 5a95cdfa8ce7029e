import { admitsInGroup, endpoint, group, userOf, type Actor, type GroupSubject } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  ListOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { conflict, forbidden, notFound } from '../../kernel/errors/index.ts'
import { branchRule, ownRule, ProtectedBranch } from './entities.ts'
import {
  checkName,
  entryChanges,
  groupChangeParams,
  groupEntryParams,
  levelParams,
  newEntries,
} from './requested.ts'
import type { BranchRule, Entry } from './rules.ts'
import * as store from './store.ts'
import { isUnprotect } from './unprotecting.ts'

const path = '/groups/:id/protected_branches'
const record = 'ProtectedBranch'
const common = { on: group, may: 'admin_protected_branch', plan: planOf.group_protections } as const
const refuses = { 404: 'No such rule, or no top-level group' }

/** Rules that a top-level group has for the branches of all its projects. They name levels only. */
export function groupRuleEndpoints({ db }: { db: Database }): Endpoint[] {
  return [
    endpoint({
      ...common,
      method: 'GET',
      path,
      summary: 'List the protected branches of a group',
      paged: true,
      params: Fields({ search: Optional(Text({ description: 'Part of a name, in any letter case' })) }),
      answers: ListOf(ProtectedBranch),
      refuses: { 404: 'No top-level group' },
      read: ({ params, page }) => store.list('group', params.search, page),
      async handle({ group, rows }) {
        requireTop(group)
        return rows.map(ownRule)
      },
    }),

    endpoint({
      ...common,
      method: 'GET',
      path: `${path}/:name`,
      summary: 'Get a protected branch of a group, or a wildcard by its own text',
      record,
      answers: ProtectedBranch,
      refuses,
      read: ({ params }) => store.ownNamed('group', params.name),
      handle: async ({ rows }) => ownRule(rows[0]!),
    }),

    endpoint({
      ...common,
      method: 'POST',
      path,
      summary: 'Protect a branch, or all branches of a wildcard, in all projects of a group',
      params: Fields({
        name: Text({ blank: false, description: 'Branch or wildcard' }),
        allow_force_push: Flag({ default: false }),
        code_owner_approval_required: Flag({ default: false }),
        ...levelParams,
        ...groupEntryParams,
      }),
      answers: ProtectedBranch,
      refuses: {
        ...refuses,
        409: 'The name is protected already',
        422: 'The name is too long, or a level named twice',
      },
      handle({ actor, group, params }) {
        requireTop(group)
        checkName(params.name)
        const owner = { kind: 'group', id: group.id } as const
        const caller = userOf(actor).id
        const entries = newEntries(params)
        if (!admitsInGroup(entries.filter(isUnprotect), actor, group)) throw forbidden()
        return db.transaction(async (tx) => {
          if ((await store.find(tx, owner, params.name, caller)) !== undefined) {
            throw conflict(`Protected branch '${params.name}' already exists`)
          }
          await store.create(tx, owner, {
            name: params.name,
            allowForcePush: params.allow_force_push,
            codeOwnerApprovalRequired: params.code_owner_approval_required,
            entries,
          })
          return ownRule((await store.find(tx, owner, params.name, caller))!)
        })
      },
    }),

    endpoint({
      ...common,
      method: 'PATCH',
      path: `${path}/:name`,
      summary: 'Change who may do what to a protected branch of a group',
      record,
      params: Fields({
        allow_force_push: Optional(Flag({ blank: false })),
        code_owner_approval_required: Optional(Flag()),
        ...groupChangeParams,
      }),
      answers: ProtectedBranch,
      refuses: { ...refuses, 422: 'A level is named twice' },
      read: ({ params }) => store.ownNamed('group', params.name),
      handle: ({ actor, group, params }) =>
        db.transaction(async (tx) => {
          const owner = { kind: 'group', id: group.id } as const
          const rule = await lockRule(tx, actor, group, params.name)
          const { add, change, remove } = entryChanges(params, rule.entries)
          await store.removeEntries(tx, remove)
          for (const { id, entry } of change) await store.changeEntry(tx, id, entry)
          await store.addEntries(tx, owner, rule.id, add)
          await store.change(tx, rule.id, {
            allowForcePush: params.allow_force_push ?? rule.allowForcePush,
            codeOwnerApprovalRequired: params.code_owner_approval_required ?? rule.codeOwnerApprovalRequired,
          })
          return ownRule((await store.find(tx, owner, params.name, userOf(actor).id))!)
        }),
    }),

    endpoint({
      ...common,
      method: 'DELETE',
      path: `${path}/:name`,
      summary: 'Unprotect a branch or wildcard of a group',
      record,
      answers: null,
      refuses: { ...refuses, ...whenChanged },
      read: ({ params }) => store.ownNamed('group', params.name),
      handle: ({ actor, group, params, request }) =>
        db.transaction(async (tx) => {
          const rule = await lockRule(tx, actor, group, params.name)
          requireUnmodified(request, await store.updatedAt(tx, rule.id))
          await store.remove(tx, rule.id)
        }),
    }),
  ]
}

/** Groups inside others have no rules of their own: what holds for a project is said in one place above it. */
function requireTop({ parentId }: GroupSubject): void {
  if (parentId !== null) throw notFound()
}

async function lockRule(tx: Tx, actor: Actor, group: GroupSubject, name: string): Promise<BranchRule> {
  const row = await store.find(tx, { kind: 'group', id: group.id }, name, userOf(actor).id)
  if (row === undefined) throw notFound(record)
  const rule = branchRule(row)
  const unprotecting: readonly Entry[] = rule.entries.filter(isUnprotect)
  if (unprotecting.length > 0 && !admitsInGroup(unprotecting, actor, group)) throw forbidden()
  return rule
}

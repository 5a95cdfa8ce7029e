import { endpoint, project, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { conflict, recordNotFound } from '../../kernel/errors/index.ts'
import type { GuardServices } from './guard.ts'
import { pauseAfter } from './pause.ts'
import { askedAbout, Preview, previewOf } from './preview.ts'
import { branchRule, protectedBranch, ProtectedBranch } from './entities.ts'
import { changeParams, checkName, entryChanges, entryParams, levelParams, newEntries } from './requested.ts'
import { actionWords, type BranchRule } from './rules.ts'
import * as store from './store.ts'
import { checkTargets, type EntryPlace } from './targets.ts'
import { isUnprotect, requireUnprotect } from './unprotecting.ts'

const path = '/projects/:id/protected_branches'
const changing: readonly Check[] = ['credentials', 'params', 'subject', 'record', 'may']

export function protectedBranchEndpoints(services: GuardServices & { plan: Plan }): Endpoint[] {
  const { db, plan } = services
  const paid = offers(plan, 'named_in_protections')
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
      read: ({ params, page }) => store.list('project', params.search, page),
      handle: async ({ rows }) => rows.map(protectedBranch),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/preview`,
      summary: 'Tell what a user may do to a branch, and by which rule',
      description:
        'The branch need not exist. Maintainers ask about anybody. Without `ref` this is the rule that is called `preview`.',
      on: project,
      may: 'read_protected_branch',
      params: Fields({
        ref: Optional(Text({ blank: false, description: 'Name of a branch' })),
        user_id: Optional(Id({ description: 'The caller otherwise' })),
      }),
      answers: Either(Preview, ProtectedBranch),
      refuses: { 400: 'No branch can be called so', 404: 'No such user' },
      read: () => store.allRules(),
      async handle({ actor, project, params: { ref, user_id }, rows: [found] }) {
        const rows = found?.rules ?? []
        if (ref !== undefined) {
          const asked = await askedAbout(services, { actor, project, rows }, user_id)
          return previewOf(services, { ...asked, branch: ref })
        }
        const rule = rows
          .filter(({ name }) => name === 'preview')
          .sort((a, b) => +a.of_group - +b.of_group)[0]
        if (rule === undefined) throw recordNotFound()
        return protectedBranch(rule)
      },
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
      refuses: {
        409: 'The name is protected already',
        422: 'The name is too long, or an entry is not allowed',
      },
      async handle({ actor, project, params }) {
        const {
          allowed_to_push: _push,
          allowed_to_merge: _merge,
          allowed_to_unprotect: _unprotect,
          ...free
        } = params
        checkName(params.name)
        const owner = { kind: 'project', id: project.id } as const
        const caller = userOf(actor).id
        const wanted = newEntries(paid ? params : free)
        const saysWhoUnprotects =
          params.unprotect_access_level !== undefined || (params.allowed_to_unprotect ?? []).length > 0
        return db.transaction(async (tx) => {
          if ((await store.find(tx, owner, params.name, caller)) !== undefined) {
            throw conflict(`Protected branch '${params.name}' already exists`)
          }
          const entries = await checkEntries(tx, { projectId: project.id, callerId: caller }, wanted)
          if (saysWhoUnprotects) requireUnprotect(entries.filter(isUnprotect), actor, project)
          await store.create(tx, owner, {
            name: params.name,
            allowForcePush: params.allow_force_push,
            codeOwnerApprovalRequired: paid && params.code_owner_approval_required,
            entries,
          })
          return protectedBranch((await store.find(tx, owner, params.name, caller))!)
        })
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
      read: ({ params }) => store.ownNamed('project', params.name),
      handle: ({ actor, project, params }) =>
        db.transaction(async (tx) => {
          const caller = userOf(actor).id
          const rule = await lockRule(tx, actor, project, params.name)
          if (paid) {
            const { add, change, remove } = entryChanges(params, rule.entries)
            const changed = change.map(({ entry }) => entry)
            await checkEntries(tx, { projectId: project.id, callerId: caller }, [...add, ...changed])
            await store.removeEntries(tx, remove)
            for (const { id, entry } of change) await store.changeEntry(tx, id, entry)
            await store.addEntries(tx, { kind: 'project', id: project.id }, rule.id, add)
          }
          await store.change(tx, rule.id, {
            allowForcePush: params.allow_force_push ?? rule.allowForcePush,
            codeOwnerApprovalRequired:
              (paid ? params.code_owner_approval_required : undefined) ?? rule.codeOwnerApprovalRequired,
          })
          return protectedBranch(
            (await store.find(tx, { kind: 'project', id: project.id }, params.name, caller))!,
          )
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
      refuses: whenChanged,
      read: ({ params }) => store.ownNamed('project', params.name),
      handle: ({ actor, project, params, request }) =>
        db.transaction(async (tx) => {
          const rule = await lockRule(tx, actor, project, params.name)
          requireUnmodified(request, await store.updatedAt(tx, rule.id))
          await store.remove(tx, rule.id)
          await pauseAfter(tx, project, rule)
        }),
    }),
  ]
}

/** A rule of the project itself, for one who may change it. */
async function lockRule(tx: Tx, actor: Actor, project: ProjectSubject, name: string): Promise<BranchRule> {
  const row = await store.find(tx, { kind: 'project', id: project.id }, name, userOf(actor).id)
  if (row === undefined) throw recordNotFound()
  const rule = branchRule(row)
  requireUnprotect(rule.entries.filter(isUnprotect), actor, project)
  return rule
}

function checkEntries(
  tx: Tx,
  place: EntryPlace,
  entries: readonly store.NewEntry[],
): Promise<store.NewEntry[]> {
  return checkTargets(tx, place, entries, ({ action }) => actionWords[action])
}

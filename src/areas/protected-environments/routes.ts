import { endpoint, group, project } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { Fields, ListOf, OneOf, Text, type Check, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound, unprocessable } from '../../kernel/errors/index.ts'
import { protectedEnvironment, ProtectedEnvironment } from './entities.ts'
import type { ProtectionServices } from './index.ts'
import { approvalCount, changeParams, entryChanges, newEntries, newParams } from './requested.ts'
import * as store from './store.ts'
import { checkTargets } from './targets.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const longestName = 255
const record = 'Protected Environment'
const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const

/** The rules of projects, and those that groups have for all projects below them. */
export function protectionEndpoints(kind: store.PlaceKind, { db }: ProtectionServices): Endpoint[] {
  const path = `/${kind}s/:id/protected_environments`
  const reading = kind === 'project' ? 'read_protected_environment' : 'admin_protected_environment'
  const writing = 'admin_protected_environment'
  const common = {
    on: kind === 'project' ? project : group,
    plan: planOf.protected_environments,
    checks,
  } as const
  const one = {
    ...common,
    path: `${path}/:name`,
    record,
    read: ({ params }: { params: { name: string } }) => store.named(kind, params.name),
  } as const
  const placeOf = (call: {
    readonly project?: { id: number }
    readonly group?: { id: number }
  }): store.Place => ({
    kind,
    id: (call.project ?? call.group!).id,
  })
  const name =
    kind === 'project'
      ? Text({
          blank: false,
          maxLength: longestName,
          description: 'Of the environment, which need not be there yet',
        })
      : OneOf(tiers, { description: 'Tier of the environments' })
  const refuses = { 422: 'An entry names whom the place does not know' }

  return [
    endpoint({
      ...common,
      method: 'GET',
      path,
      summary: `List the protected environments of a ${kind}`,
      paged: true,
      may: reading,
      answers: ListOf(ProtectedEnvironment),
      read: ({ page }) => store.list(kind, page),
      handle: async ({ rows }) => rows.map(protectedEnvironment),
    }),

    endpoint({
      ...one,
      method: 'GET',
      summary: `Get a protected environment of a ${kind}`,
      may: reading,
      answers: ProtectedEnvironment,
      handle: async ({ rows }) => protectedEnvironment(rows[0]!),
    }),

    endpoint({
      ...common,
      method: 'POST',
      path,
      summary:
        kind === 'project'
          ? 'Protect an environment'
          : 'Protect the environments of a tier in all projects of a group',
      params: Fields({ name, required_approval_count: approvalCount, ...newParams }),
      may: writing,
      answers: ProtectedEnvironment,
      refuses: { ...refuses, 409: 'It is protected already' },
      async handle(call) {
        const { params } = call
        if (params.name.length > longestName) {
          throw unprocessable([`Name is too long (maximum is ${longestName} characters)`])
        }
        const entries = newEntries(params)
        return db.transaction(async (tx) => {
          await checkTargets(tx, placeOf(call), entries)
          const approvals = params.required_approval_count ?? 0
          const id = await store.create(tx, placeOf(call), { name: params.name, approvals, entries })
          return protectedEnvironment((await store.find(tx, id))!)
        })
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      summary: `Change who may deploy to a protected environment of a ${kind}`,
      params: Fields({ name: Text(), required_approval_count: approvalCount, ...changeParams }),
      may: writing,
      answers: ProtectedEnvironment,
      refuses,
      handle: (call) =>
        db.transaction(async (tx) => {
          const { params } = call
          const rule = await store.lock(tx, call.rows[0]!.id)
          if (rule === undefined) throw notFound(record)
          const { add, change, remove } = entryChanges(params, rule.entries)
          await checkTargets(tx, placeOf(call), [...add, ...change.map(({ entry }) => entry)])
          await store.removeEntries(tx, remove)
          for (const { id, entry } of change) await store.changeEntry(tx, id, entry)
          await store.addEntries(tx, rule.id, add)
          await store.changeApprovals(
            tx,
            rule.id,
            params.required_approval_count ?? rule.required_approval_count,
          )
          return protectedEnvironment((await store.find(tx, rule.id))!)
        }),
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      summary: `Unprotect an environment of a ${kind}`,
      may: writing,
      answers: null,
      handle: ({ rows }) => store.remove(db.writer, rows[0]!.id),
    }),
  ]
}

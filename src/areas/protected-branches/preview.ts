import {
  admits,
  enterAs,
  entryAdmits,
  may,
  project as projectKind,
  require,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { branchRef, resolve } from '../../git/index.ts'
import { Fields, Flag, Id, ListOf, Nullable, Text } from '../../kernel/endpoint/index.ts'
import { notFound, refused } from '../../kernel/errors/index.ts'
import {
  AccessLevel,
  accessLevel,
  branchRule,
  ProtectedBranch,
  protectedBranch,
  type RuleRow,
} from './entities.ts'
import type { GuardServices } from './guard.ts'
import { judge } from './judge.ts'
import { protectionOf, type Action } from './rules.ts'
import { branchState } from './state.ts'
import * as store from './store.ts'
import { isUnprotect } from './unprotecting.ts'

const Who = Fields({ rule_id: Id(), rule_name: Text(), entry: AccessLevel })

const Verdict = Fields({
  allowed: Flag(),
  because: Text({ description: 'What lets the user in, or the words of the refusal' }),
  by: Nullable(Who),
  everybody: ListOf(Who, { description: 'All whom rules let in; empty where no rule decides' }),
})

export const Preview = Fields({
  ref: Text(),
  user_id: Id(),
  exists: Flag(),
  default: Flag(),
  protected: Flag(),
  push: Verdict,
  merge: Verdict,
  force_push: Verdict,
  delete: Verdict,
  unprotect: Verdict,
  code_owner_approval_required: Flag(),
  rules: ListOf(ProtectedBranch, { description: 'All that match, most of them by a wildcard perhaps' }),
})

interface Asked {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly branch: string
  readonly rows: readonly RuleRow[]
}

type Entry = RuleRow['entries'][number]

interface Entrance {
  readonly row: RuleRow
  readonly entry: Entry
}

/** What a user may do to a branch, there or not, and by which rule: asked of the same rule as the door's. */
export async function previewOf(services: GuardServices, asked: Asked): Promise<unknown> {
  const { actor, project, branch } = asked
  const rows = asked.rows.filter((row) => protectionOf(branch, [branchRule(row)]) !== undefined)
  const protection = protectionOf(branch, rows.map(branchRule))
  const exists = await branchExists(services, project, branch)
  const mayPushCode = may(actor, 'push_code', project)
  const through = (...actions: Action[]): Entrance[] =>
    rows.flatMap((row) =>
      row.entries.filter(({ action }) => actions.includes(action)).map((entry) => ({ row, entry })),
    )
  const verdict = (refusal: string | undefined, entrances: readonly Entrance[]): unknown => {
    const by = refusal === undefined ? entranceOf(entrances, asked) : undefined
    const admitted = by === undefined ? unruled : `rule ${by.row.name}: ${descriptionOf(by.entry)}`
    const everybody = entrances.filter(({ entry }) => entry.access_level !== 0).map(who)
    return { allowed: refusal === undefined, because: refusal ?? admitted, by: by && who(by), everybody }
  }
  const told = async (kind: 'create' | 'update' | 'delete', forced: boolean): Promise<string | undefined> => {
    if (!mayPushCode) return mayNotPush
    return judge(services, asked, {
      ...{ branch, kind, rules: rows.map(branchRule), via: kind === 'delete' ? 'web' : 'git' },
      isForced: () => Promise.resolve(forced),
      onProtectedBranch: () => Promise.resolve(true),
      isMergeResult: () => Promise.resolve(false),
    })
  }
  const state = branchState(branch, rows.map(branchRule), actor, project, mayPushCode)
  const mayMerge = state.mayPush || state.mayMerge
  return {
    ref: branch,
    user_id: userOf(actor).id,
    exists,
    default: branch === project.defaultBranch,
    protected: protection !== undefined,
    push: verdict(await told(exists ? 'update' : 'create', false), through('push')),
    merge: verdict(mayMerge ? undefined : mayPushCode ? mayNotMerge : mayNotPush, through('merge', 'push')),
    force_push: verdict(
      await told('update', true),
      protection?.allowForcePush === false ? [] : through('push'),
    ),
    delete: verdict(await told('delete', false), []),
    unprotect: verdict(unprotectRefusal(asked, rows), through('unprotect')),
    code_owner_approval_required: protection?.codeOwnerApprovalRequired ?? false,
    rules: rows.map(protectedBranch),
  }
}

const unruled = 'no rule decides: the role in the project does'
const mayNotPush = 'You are not allowed to push code to this project.'
const mayNotMerge = 'You are not allowed to merge code into protected branches on this project.'

/** Every rule that matches would have to go. */
function unprotectRefusal({ actor, project }: Asked, rows: readonly RuleRow[]): string | undefined {
  if (rows.length === 0) return 'The branch is not protected.'
  if (!may(actor, 'admin_protected_branch', project)) return '403 Forbidden'
  const inherited = rows.find((row) => row.of_group)
  if (inherited !== undefined) return `Rule ${inherited.name} belongs to the group and is changed there.`
  const closed = rows.map(branchRule).find(({ entries }) => {
    const unprotecting = entries.filter(isUnprotect)
    return unprotecting.length > 0 && !admits(unprotecting, actor, project)
  })
  return closed === undefined ? undefined : `Rule ${closed.name} is not lifted by this user.`
}

function entranceOf(entrances: readonly Entrance[], { actor, project }: Asked): Entrance | undefined {
  return entrances.find(({ row, entry }) => {
    const known = branchRule(row).entries.find(({ id, action }) => id === entry.id && action === entry.action)
    return known !== undefined && entryAdmits(known, actor, project)
  })
}

function who({ row, entry }: Entrance): Record<string, unknown> {
  return { rule_id: row.id, rule_name: row.name, entry: accessLevel(entry) }
}

function descriptionOf(entry: Entry): string {
  return String(accessLevel(entry)['access_level_description'])
}

async function branchExists(
  { repositoryOf }: GuardServices,
  project: ProjectSubject,
  branch: string,
): Promise<boolean> {
  const ref = branchRef(branch)
  if (ref === undefined) throw refused(400, 'The branch refname is invalid')
  return !project.repositoryEmpty && (await resolve(repositoryOf(project), ref)) !== undefined
}

/** The caller, or another user about whom he may ask; with the project and its rules as that user meets them. */
export async function askedAbout(
  { db }: GuardServices,
  caller: Pick<Asked, 'actor' | 'project'> & { readonly rows: readonly RuleRow[] },
  userId: number | undefined,
): Promise<Omit<Asked, 'branch'>> {
  if (userId === undefined || userId === userOf(caller.actor).id) return caller
  require(caller.actor, 'admin_protected_branch', caller.project)
  const entered = await enterAs<ProjectSubject>(db, projectKind, userId, caller.project.id)
  if (entered === undefined) throw notFound('User')
  const rows = await store.ruleRowsOf(db.reader, caller.project.id, userId)
  return { actor: entered.actor, project: entered.subject, rows }
}

import type { Database } from '../../../kernel/db/index.ts'
import type { Logger } from '../../../kernel/log/index.ts'
import type { LdapConfig, LdapServer } from '../config.ts'
import { Connection, DirectoryError } from '../server/connection.ts'
import { DirectoryGroups } from '../server/groups.ts'
import {
  planGroup,
  tooManyRemovals,
  type GroupFacts,
  type Identity,
  type Plan,
  type ResolvedLink,
} from './plan.ts'
import * as store from './store.ts'

export interface SyncServices {
  readonly db: Database
  readonly log: Logger
  readonly config: LdapConfig
}

export interface SyncOptions {
  /** Only these; undefined: every group with links. */
  readonly groupIds?: readonly number[]
  /** Whoever starts it knows that it removes many. */
  readonly confirmed?: boolean
}

export interface GroupOutcome {
  readonly groupId: number
  readonly state: 'ready' | 'pending' | 'failed'
  readonly error: string | null
  readonly plan: Plan | undefined
}

/** What directories said of the links: who is in each, or why it is not known. */
type Resolved = ReadonlyMap<number, ReadonlySet<string> | string>

/**
 * Brings the memberships of groups to what the directories say. What is as it should be costs no transaction; a group
 * one of whose directories did not answer whole stays as it is, and says so.
 */
export async function syncGroups(services: SyncServices, options: SyncOptions = {}): Promise<GroupOutcome[]> {
  const { db, log } = services
  await store.failHung(db.writer)
  const links = await store.linksTo(db.reader, providersOf(services), options.groupIds)
  if (links.length === 0) return []
  const claimed = await store.claim(db.writer, [...new Set(links.map(({ namespace_id }) => namespace_id))])
  const outcomes: GroupOutcome[] = []
  try {
    const mine = new Set(claimed)
    const wanted = links.filter(({ namespace_id }) => mine.has(namespace_id))
    const resolved = await resolve(services, wanted)
    const [states, identities] = await Promise.all([
      store.statesOf(db.reader, claimed),
      store.identitiesOf(db.reader),
    ])
    const known = new Identities(identities)
    const byGroup = Map.groupBy(wanted, ({ namespace_id }) => namespace_id)
    const changed = new Set<number>()
    for (const groupId of claimed) {
      const all = joined(byGroup.get(groupId) ?? [], resolved)
      if (typeof all === 'string') {
        outcomes.push({ groupId, state: 'failed', error: all, plan: undefined })
        continue
      }
      const state = states.get(groupId)!
      // What was read of the groups above is not true any more where they were changed a moment ago.
      const stale = state.parents.some((id) => changed.has(id))
      const outcome = await syncGroup(services, groupId, all, { state, known, stale }, options)
      if (outcome.state === 'ready' && outcome.plan!.changes.length > 0) changed.add(groupId)
      outcomes.push(outcome)
    }
  } finally {
    const told = new Map(outcomes.map((outcome) => [outcome.groupId, outcome]))
    await store.settle(
      db.writer,
      claimed.map((groupId) => ({
        groupId,
        state: told.get(groupId)?.state ?? 'failed',
        error: told.has(groupId) ? told.get(groupId)!.error : 'The sync ended before its time.',
      })),
    )
  }
  for (const { groupId, state, error } of outcomes) {
    if (state !== 'ready')
      log.warn({ group: groupId, state, reason: error }, 'a group was not synced with its directory')
  }
  return outcomes
}

async function syncGroup(
  { db, config, log }: SyncServices,
  groupId: number,
  links: readonly ResolvedLink[],
  seen: { readonly state: store.GroupState; readonly known: Identities; readonly stale: boolean },
  { confirmed = false }: SyncOptions,
): Promise<GroupOutcome> {
  const done = (plan: Plan): GroupOutcome => ({ groupId, state: 'ready', error: null, plan })
  const facts = seen.known.factsOf(links, seen.state)
  const first = planGroup(facts)
  if (first.changes.length === 0 && !seen.stale) return done(first)
  return db.transaction(async (tx) => {
    if (!(await store.lockGroup(tx, groupId))) return done({ changes: [], kept: [], unknown: 0 })
    // Somebody may have changed a member since.
    const state = (await store.statesOf(tx, [groupId])).get(groupId)!
    const now = seen.known.factsOf(links, state)
    const plan = planGroup(now)
    const question = confirmed ? undefined : tooManyRemovals(plan, now, config.sync)
    if (question !== undefined) return { groupId, state: 'pending', error: question, plan }
    await store.apply(tx, groupId, plan.changes)
    for (const { userId, because } of plan.kept) {
      log.info({ group: groupId, user: userId, because }, 'a membership was kept against its directory')
    }
    return done(plan)
  })
}

/** What a sync of one group would change, and why; nothing is changed. */
export async function previewGroup(services: SyncServices, groupId: number): Promise<GroupOutcome> {
  const { db, config } = services
  const links = await store.linksTo(db.reader, providersOf(services), [groupId])
  const all = joined(links, await resolve(services, links))
  if (typeof all === 'string') return { groupId, state: 'failed', error: all, plan: undefined }
  const state = (await store.statesOf(db.reader, [groupId])).get(groupId)!
  const facts = new Identities(await store.identitiesOf(db.reader)).factsOf(all, state)
  const plan = planGroup(all.length === 0 ? { ...facts, members: [] } : facts)
  const question = tooManyRemovals(plan, facts, config.sync)
  return { groupId, state: question === undefined ? 'ready' : 'pending', error: question ?? null, plan }
}

function providersOf({ config }: SyncServices): string[] {
  return config.servers.map(({ provider }) => provider)
}

/** Asks each directory once for all of its links. */
async function resolve({ config }: SyncServices, links: readonly store.LinkRow[]): Promise<Resolved> {
  const resolved = new Map<number, ReadonlySet<string> | string>()
  for (const [provider, own] of Map.groupBy(links, (link) => link.provider)) {
    const server = config.servers.find((one) => one.provider === provider)
    if (server === undefined) continue
    try {
      for (const [id, people] of await resolveAt(server, own)) resolved.set(id, people)
    } catch (error) {
      if (!(error instanceof DirectoryError)) throw error
      for (const { id } of own) resolved.set(id, error.message)
    }
  }
  return resolved
}

async function resolveAt(
  server: LdapServer,
  links: readonly store.LinkRow[],
): Promise<Map<number, ReadonlySet<string>>> {
  await using connection = await Connection.open(server)
  const groups = new DirectoryGroups(connection)
  const byCn = await groups.membersOf(links.flatMap(({ cn }) => cn ?? []))
  const found = new Map<number, ReadonlySet<string>>()
  for (const { id, cn, filter } of links) {
    if (filter !== null) found.set(id, await groups.membersBy(filter))
    // Without a base for groups links by name do nothing.
    else if (server.groupBase !== undefined) found.set(id, byCn.get(cn!.toLowerCase()) ?? new Set())
  }
  return found
}

/** The links with what was found for them, or the first reason why something is not known. */
function joined(links: readonly store.LinkRow[], resolved: Resolved): ResolvedLink[] | string {
  const all: ResolvedLink[] = []
  for (const link of links) {
    const people = resolved.get(link.id)
    if (typeof people === 'string') return people
    if (people === undefined) continue
    all.push({
      id: link.id,
      provider: link.provider,
      label: link.cn === null ? link.filter! : `cn=${link.cn}`,
      level: link.group_access,
      memberRoleId: link.member_role_id,
      people,
    })
  }
  return all
}

/** All names in directories, by user and by name, so that each group takes the few it needs. */
class Identities {
  readonly #byUser: ReadonlyMap<number, readonly Identity[]>
  readonly #byName: ReadonlyMap<string, Identity>

  constructor(all: readonly Identity[]) {
    this.#byUser = Map.groupBy(all, ({ userId }) => userId)
    this.#byName = new Map(all.map((identity) => [`${identity.provider} ${identity.key}`, identity]))
  }

  factsOf(links: readonly ResolvedLink[], state: store.GroupState): GroupFacts {
    const users = new Set(state.members.map(({ userId }) => userId))
    for (const { provider, people } of links) {
      for (const key of people) {
        const identity = this.#byName.get(`${provider} ${key}`)
        if (identity !== undefined) users.add(identity.userId)
      }
    }
    const identities = [...users].flatMap((userId) => this.#byUser.get(userId) ?? [])
    return { links, identities, ...state }
  }
}

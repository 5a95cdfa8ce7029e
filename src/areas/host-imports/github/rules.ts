import { sql } from '../../../kernel/db/index.ts'
import { offers } from '../../../kernel/config/index.ts'
import { ApiError } from '../../../kernel/errors/index.ts'
import { addSeveral, circumstancesOf, placeOf } from '../../members/index.ts'
import {
  checkProtectedBranch,
  RecordFault,
  recordReader,
  writeProtectedBranches,
  type ProtectedBranchRecord,
} from '../../project-archives/index.ts'
import { resolve, tagRef } from '../../../git/index.ts'
import { isMissing } from '../client.ts'
import * as store from '../step-store.ts'
import type { Failure } from '../step-store.ts'
import { quoteMentions } from '../texts.ts'
import { failureOf, readEach, type Work } from '../work.ts'
import { accountOf, releaseOf } from './records.ts'
import { pageOf, peopleOf } from './work.ts'

const { objectOf, text } = recordReader

/** Releases whose tags are here. */
export async function takeReleases(work: Work): Promise<void> {
  const { room, project, step } = work
  const { entries, further } = await pageOf(work, '/releases')
  const { records, failures } = readEach('releases', entries, releaseOf)
  const people = await peopleOf(
    work,
    records.map(({ author }) => author),
  )
  const repository = room.places.of(project)
  const rows: object[] = []
  for (const { id, tag, name, body, author, createdAt, publishedAt } of records) {
    const ref = tagRef(tag)
    const sha = ref === undefined ? undefined : await resolve(repository, ref)
    if (sha === undefined) {
      failures.push(failureOf('releases', new RecordFault(`there is no tag ${tag}`), id))
      continue
    }
    const description = body === null ? null : quoteMentions(body)
    rows.push({
      ...{ tag, name, description, sha, author_id: people.authorOf(author) },
      ...{ created_at: createdAt, released_at: publishedAt },
    })
  }
  await room.db.transaction(async (tx) => {
    await sql`
      insert into releases (project_id, tag, name, description, sha, author_id, created_at, updated_at, released_at)
      select distinct on (r.tag) ${project.id}::bigint, r.tag, r.name, r.description, r.sha, r.author_id, r.created_at,
        r.created_at, r.released_at
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) r (tag text, name text, description text, sha text,
        author_id bigint, created_at timestamptz, released_at timestamptz)
      on conflict do nothing`.execute(tx)
    await store.finish(tx, step, { fetched: entries.length, imported: rows.length, failures, further })
  })
}

const nobody = 0
const maintainers = 40

interface Rules {
  readonly branch: ProtectedBranchRecord
  readonly conversations: boolean
  readonly signatures: boolean
}

const isOn = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (value as { enabled?: unknown }).enabled === true

/** What the host lets nobody do to a branch. `rules`: undefined where these credentials may not see them. */
function rulesOf(name: string, rules: unknown, codeOwners: boolean): Rules {
  const raw = rules === undefined ? {} : objectOf(rules)
  const reviews = raw['required_pull_request_reviews']
  const reviewed = typeof reviews === 'object' && reviews !== null
  return {
    branch: checkProtectedBranch({
      name,
      allow_force_push: isOn(raw['allow_force_pushes']),
      code_owner_approval_required:
        codeOwners && reviewed && objectOf(reviews)['require_code_owner_reviews'] === true,
      levels: [
        { action: 'push', access_level: reviewed ? nobody : maintainers },
        { action: 'merge', access_level: maintainers },
      ],
    }),
    conversations: isOn(raw['required_conversation_resolution']),
    signatures: isOn(raw['required_signatures']),
  }
}

/** Rules of branches; two of those of the default branch are here rules of the project. */
export async function takeProtectedBranches(work: Work): Promise<void> {
  const { room, project, step, client } = work
  const { entries, further } = await pageOf(work, '/branches?protected=true')
  const { records: names, failures } = readEach('protected_branches', entries, (entry) =>
    text(objectOf(entry), 'name', 255),
  )
  const found: Rules[] = []
  for (const name of names) {
    const rules = await client.find(`/repos/${step.fullName}/branches/${encodeURIComponent(name)}/protection`)
    found.push(rulesOf(name, rules, offers(room.plan, 'code_owners')))
  }
  const ofDefault = found.find(({ branch }) => branch.name === step.source.defaultBranch)
  await room.db.transaction(async (tx) => {
    const target = { projectId: project.id, importerId: work.actor.user!.id, asOthers: false }
    await sql`
      delete from protected_branches b where b.project_id = ${project.id} and b.name = any (${names}::text[])`.execute(
      tx,
    )
    await writeProtectedBranches(
      tx,
      target,
      found.map(({ branch }) => branch),
    )
    if (ofDefault?.conversations === true) {
      await sql`
        update projects set settings = settings || '{"only_allow_merge_if_all_discussions_are_resolved": true}'
        where id = ${project.id}`.execute(tx)
    }
    if (ofDefault?.signatures === true && offers(room.plan, 'push_rules')) {
      await sql`
        insert into push_rules (project_id, reject_unsigned_commits) values (${project.id}, true)
        on conflict (project_id) do update set reject_unsigned_commits = true`.execute(tx)
    }
    await store.finish(tx, step, { fetched: entries.length, imported: found.length, failures, further })
  })
}

const levels: Readonly<Record<string, number>> = {
  read: 10,
  pull: 10,
  triage: 20,
  write: 30,
  push: 30,
  maintain: 40,
  admin: 50,
}
/** Collaborators from elsewhere, of whom no more are looked for. */
const mostOutside = 10_000

/** Those who work on the repository itself and are known here become members, as far as the importer may make them. */
export async function takeCollaborators(work: Work): Promise<void> {
  const { room, project, step, client, actor } = work
  const { db, events, plan } = room
  let page
  const outside = new Set<string>()
  try {
    page = await pageOf(work, '/collaborators?affiliation=direct')
    const list = `/repos/${step.fullName}/collaborators?affiliation=outside&per_page=100`
    for await (const entry of client.pages(list, mostOutside)) {
      const login = accountOf(entry)?.login
      if (login !== undefined) outside.add(login)
    }
  } catch (error) {
    // Who may not push may not see them: then they stay behind.
    if (!isMissing(error)) throw error
    await db.transaction((tx) => store.finish(tx, step))
    return
  }
  const { entries, further } = page
  const { records, failures } = readEach('collaborators', entries, (entry) => {
    const raw = objectOf(entry)
    const account = accountOf(raw)!
    if (outside.has(account.login)) return undefined
    const role = text(raw, 'role_name', 255)
    const level = levels[role]
    if (level === undefined) throw new RecordFault(`the role ${role} is none that is known here`)
    return { account, level }
  })
  const people = await peopleOf(
    work,
    records.map(({ account }) => account),
  )
  const place = placeOf(project)
  const circumstances = circumstancesOf(place, offers(plan, 'member_fields'))
  const members = await sql<{ user_id: number }>`
    select m.user_id from members m where m.project_id = ${project.id}`.execute(db.writer)
  const there = new Set(members.rows.map(({ user_id: id }) => id))
  let imported = 0
  for (const { account, level } of records) {
    const id = people.userOf(account)
    if (id === undefined) continue
    if (!there.has(id)) {
      const wish = { accessLevel: level, expiresAt: null }
      const problem = await addSeveral({ db, events }, { actor, place, wish, circumstances }, 'id', [
        String(id),
      ]).then(
        ({ status, message }) => (status === 'error' ? textOf(message) : undefined),
        (error: unknown) => {
          if (error instanceof ApiError) return error.message
          throw error
        },
      )
      if (problem !== undefined) {
        failures.push(failureOf('collaborators', new RecordFault(problem), account.login) satisfies Failure)
        continue
      }
    }
    imported += 1
  }
  await db.transaction((tx) =>
    store.finish(tx, step, { fetched: records.length, imported, failures, further }),
  )
}

const textOf = (message: unknown): string =>
  typeof message === 'string' ? message : JSON.stringify(message ?? 'could not be added')

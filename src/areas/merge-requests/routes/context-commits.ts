import { sql } from '../../../kernel/db/index.ts'
import { endpoint, project as projectKind, subjectRequestsReadable } from '../../../access/index.ts'
import { parseOid, readCommits, type Commit as GitCommit, type Oid } from '../../../git/index.ts'
import {
  Fields,
  ListOf,
  Page,
  rows as readRows,
  Text,
  type Endpoint,
  type Read,
} from '../../../kernel/endpoint/index.ts'
import { refused } from '../../../kernel/errors/index.ts'
import { Commit, commitEntity } from '../../repository/index.ts'
import { readableOne } from '../reading/one.ts'
import type { MergeRequestServices } from '../services.ts'
import * as store from '../store.ts'
import { keepCommits } from '../versions/refs.ts'
import { iid, readingOne, requestPath, requireUpdateOf, writingOne } from './reading.ts'

const path = `${requestPath}/context_commits`
/** Commits of one request. */
const mostCommits = 100
const commits = ListOf(Text(), { commaSeparated: true, single: true, description: 'Ids of commits' })
const notValid = "One or more context commits' sha is not valid."

function contextOf(number: number): Read<{ readonly shas: readonly string[] }> {
  return readRows(sql`
    select array(
      select c.sha from merge_request_context_commits c where c.merge_request_id = m.id order by c.sha) as shas
    from merge_requests m
    where m.project_id = subject.id and m.iid = ${number} and ${subjectRequestsReadable}`)
}

/** Commits that came before a request and explain it. */
export function contextCommitEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db, places, externalUrl } = services
  const show = (project: { fullPath: string }, found: readonly GitCommit[]): unknown[] =>
    newestFirst(found).map((commit) => commitEntity(commit, `${externalUrl()}/${project.fullPath}`))
  return [
    endpoint({
      ...readingOne,
      path,
      summary: 'List the commits that explain a merge request',
      paged: true,
      params: Fields(iid),
      answers: ListOf(Commit),
      read: ({ params }) => contextOf(params.merge_request_iid),
      async handle({ project, rows, page: { offset, limit } }) {
        const found = await readCommits(places.of(project), rows[0]!.shas as readonly Oid[])
        return new Page(show(project, found).slice(offset, offset + limit), { total: found.length })
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Add commits that explain a merge request',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields({ ...iid, commits }),
      answers: ListOf(Commit),
      refuses: { 400: 'A commit that there is not, or that is there already' },
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireUpdateOf(actor, project, row)
        const oids = oidsOf(params.commits)
        const found = await readCommits(places.of(project), oids)
        if (found.length < oids.length) throw refused(400, notValid)
        await keepCommits(services, project, oids)
        await db.transaction(async (tx) => {
          await store.lock(tx, row.id)
          const taken = await sql<{ sha: string; known: boolean }>`
            select c.sha, c.sha = any (${oids}::text[]) as known from merge_request_context_commits c
            where c.merge_request_id = ${row.id}`.execute(tx)
          const again = taken.rows.filter(({ known }) => known).map(({ sha }) => sha)
          if (again.length > 0) {
            throw refused(400, `Context commits: ["${again.join('", "')}"] are already created`)
          }
          if (taken.rows.length + oids.length > mostCommits) {
            throw refused(400, `A merge request has at most ${mostCommits} context commits`)
          }
          await sql`
            insert into merge_request_context_commits (merge_request_id, sha)
            select ${row.id}, wanted.sha from unnest(${oids}::text[]) wanted (sha)`.execute(tx)
        })
        return show(project, found)
      },
    }),

    endpoint({
      method: 'DELETE',
      path,
      summary: 'Take commits away that explain a merge request',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields({ ...iid, commits }),
      answers: null,
      refuses: { 400: 'A commit that is none of them' },
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireUpdateOf(actor, project, row)
        const oids = oidsOf(params.commits)
        await db.transaction(async (tx) => {
          const gone = await sql`
            delete from merge_request_context_commits c
            where c.merge_request_id = ${row.id} and c.sha = any (${oids}::text[]) returning c.sha`.execute(
            tx,
          )
          if (gone.rows.length < oids.length) throw refused(400, notValid)
        })
      },
    }),
  ]
}

/** Each once; refused where one is no id. */
function oidsOf(shas: readonly string[]): Oid[] {
  const wanted = [...new Set(shas.map((sha) => parseOid(sha.toLowerCase())))]
  const oids = wanted.filter((oid) => oid !== undefined)
  if (oids.length === 0 || oids.length < wanted.length) throw refused(400, notValid)
  return oids
}

function newestFirst(commits: readonly GitCommit[]): GitCommit[] {
  return commits.toSorted((one, other) => other.committer.date.getTime() - one.committer.date.getTime())
}

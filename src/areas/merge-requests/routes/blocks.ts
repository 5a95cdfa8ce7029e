import { endpoint, project as projectKind, subjectRequestsReadable } from '../../../access/index.ts'
import { planOf } from '../../../kernel/config/index.ts'
import { onConstraint, sql } from '../../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Page,
  rows as readRows,
  type Endpoint,
  type Read,
} from '../../../kernel/endpoint/index.ts'
import { conflict, invalid, notFound, recordNotFound } from '../../../kernel/errors/index.ts'
import { ListedMergeRequest } from '../entities.ts'
import { mergeRequestsByIds } from '../reading/by-ids.ts'
import { readableOne } from '../reading/one.ts'
import type { MergeRequestServices } from '../services.ts'
import * as store from '../store.ts'
import { iid, readingOne, requestPath, requireUpdateOf, writingOne } from './reading.ts'

/** Requests that one may wait for. */
const mostBlocks = 10

interface BlockRow {
  readonly id: number
  readonly blocking_id: number
  readonly blocked_id: number
}

const Block = Fields({
  id: Id(),
  blocking_merge_request: ListedMergeRequest,
  blocked_merge_request: ListedMergeRequest,
  project_id: Id(),
})

const path = `${requestPath}/blocks`
const paid = { plan: planOf.merge_request_blocks } as const

/** What a request waits for (`blocked`), or what waits for it. */
function blocksOf(
  number: number,
  side: 'blocked' | 'blocking',
): Read<{ readonly blocks: readonly BlockRow[] }> {
  return readRows(sql`
    select coalesce((
      select json_agg(b order by b.id) from merge_request_blocks b where b.${sql.ref(`${side}_id`)} = m.id), '[]')
      as blocks
    from merge_requests m
    where m.project_id = subject.id and m.iid = ${number} and ${subjectRequestsReadable}`)
}

/** Requests that have to be merged before another one. */
export function blockEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db } = services
  /** As far as the caller sees both ends. */
  const show = async (
    actor: Parameters<typeof mergeRequestsByIds>[1],
    project: { readonly id: number },
    blocks: readonly BlockRow[],
  ): Promise<Record<string, unknown>[]> => {
    const ids = new Set(blocks.flatMap(({ blocking_id, blocked_id }) => [blocking_id, blocked_id]))
    const seen = await mergeRequestsByIds(services, actor, [...ids])
    return blocks.flatMap(({ id, blocking_id, blocked_id }) => {
      const [blocking, blocked] = [seen.get(blocking_id), seen.get(blocked_id)]
      return blocking === undefined || blocked === undefined
        ? []
        : [{ id, blocking_merge_request: blocking, blocked_merge_request: blocked, project_id: project.id }]
    })
  }
  const list = (name: 'blocks' | 'blockees', side: 'blocked' | 'blocking', summary: string): Endpoint =>
    endpoint({
      ...readingOne,
      ...paid,
      path: `${requestPath}/${name}`,
      summary,
      description: 'Without those of which the caller may not see one end.',
      paged: true,
      params: Fields(iid),
      answers: ListOf(Block),
      read: ({ params }) => blocksOf(params.merge_request_iid, side),
      async handle({ actor, project, rows, page: { offset, limit } }) {
        const shown = await show(actor, project, rows[0]!.blocks)
        return new Page(shown.slice(offset, offset + limit), { total: shown.length })
      },
    })
  return [
    list('blocks', 'blocked', 'List what has to be merged before a merge request'),
    list('blockees', 'blocking', 'List what can be merged only after a merge request'),

    endpoint({
      ...readingOne,
      ...paid,
      path: `${path}/:block_id`,
      summary: 'Get one of what has to be merged before a merge request',
      params: Fields({ ...iid, block_id: Id() }),
      answers: Block,
      read: ({ params }) => blocksOf(params.merge_request_iid, 'blocked'),
      async handle({ actor, project, rows, params }) {
        const found = rows[0]!.blocks.filter(({ id }) => id === params.block_id)
        const [shown] = await show(actor, project, found)
        if (shown === undefined) throw recordNotFound()
        return shown
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Let a merge request wait until another one is merged',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      ...paid,
      params: Fields({
        ...iid,
        blocking_merge_request_id: Id({ description: 'The id of the other one, not its number' }),
      }),
      answers: Block,
      refuses: {
        400: 'It would wait for itself, or for too many',
        404: 'No such other one that the caller may see',
        409: 'It does so already',
      },
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireUpdateOf(actor, project, row)
        const blocking = params.blocking_merge_request_id
        const seen = await mergeRequestsByIds(services, actor, [blocking])
        if (!seen.has(blocking)) throw notFound('Merge Request')
        const made = await db.transaction(async (tx) => {
          await store.lock(tx, row.id)
          const { rows: found } = await sql<{ circle: boolean; count: number }>`
            with recursive before (id) as (
              select ${blocking}::bigint
              union select b.blocking_id from before join merge_request_blocks b on b.blocked_id = before.id)
            select exists (select from before where before.id = ${row.id}) as circle,
              (select count(*) from merge_request_blocks b where b.blocked_id = ${row.id})::int as count`.execute(
            tx,
          )
          if (found[0]!.circle) throw invalid({ base: ['This block would make a circle'] })
          if (found[0]!.count >= mostBlocks) throw invalid({ base: [`No more than ${mostBlocks} blocks`] })
          const { rows: added } = await sql<BlockRow>`
            insert into merge_request_blocks (blocking_id, blocked_id) values (${blocking}, ${row.id})
            returning id, blocking_id, blocked_id`
            .execute(tx)
            .catch(onConstraint('merge_request_blocks_once', () => conflict('Block already exists')))
          return added[0]!
        })
        return (await show(actor, project, [made]))[0]
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:block_id`,
      summary: 'Let a merge request wait for another one no longer',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      ...paid,
      params: Fields({ ...iid, block_id: Id() }),
      answers: null,
      refuses: { 404: 'It waits for nothing of this id' },
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        requireUpdateOf(actor, project, rows[0]!)
        const gone = await sql`
          delete from merge_request_blocks b
          where b.id = ${params.block_id} and b.blocked_id = ${rows[0]!.id} returning b.id`.execute(db.writer)
        if (gone.rows.length === 0) throw recordNotFound()
      },
    }),
  ]
}

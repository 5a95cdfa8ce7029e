import {
  endpoint,
  group,
  instance,
  may,
  project as projectKind,
  readOf,
  type Actor,
} from '../../../access/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { enqueue } from '../../../tasks/index.ts'
import {
  ListedMergeRequest,
  listedMergeRequest,
  SimpleMergeRequest,
  simpleMergeRequest,
} from '../entities.ts'
import { htmlOf } from '../html.ts'
import { isChecked } from '../merging/status.ts'
import {
  filterParams,
  filterRules,
  scopes,
  viewParams,
  type MergeRequestOrder,
} from '../reading/filter-params.ts'
import { deployedCommit, requestsBroughtBy } from '../reading/deployed.ts'
import {
  everywhere,
  nextPlace,
  ofGroup,
  ofProject,
  ofProjectAmong,
  type ListedRow,
} from '../reading/listing.ts'
import type { MergeRequestServices } from '../services.ts'
import { surroundings } from '../show.ts'
import { refreshTask } from '../tasks.ts'

const keyset = {
  pagination: OneOf(['legacy', 'keyset'], { default: 'legacy' }),
  cursor: Optional(Text({ description: 'Keyset pagination: where the next page begins, from the link' })),
}
const all = { ...filterParams, ...viewParams, ...keyset }
const everyScope = { scope: OneOf(scopes, { default: 'all' }) }
const refuses = { 405: 'An offset too deep, or keyset pagination in an order that has none' }
const answers = ListOf(Either(ListedMergeRequest, SimpleMergeRequest))

interface Listed {
  readonly view?: 'simple' | undefined
  readonly pagination: string
  readonly order_by: MergeRequestOrder
  readonly with_merge_status_recheck: boolean
  readonly with_labels_details: boolean
  readonly render_html: boolean
}

export function listEndpoints(services: MergeRequestServices): Endpoint[] {
  const show = async (
    actor: Actor,
    rows: readonly ListedRow[],
    params: Listed,
  ): Promise<Page<unknown> | unknown[]> => {
    if (params.with_merge_status_recheck) await recheck(services, rows)
    const about = { ...surroundings(services), labelDetails: params.with_labels_details }
    const shown = await Promise.all(
      rows.map(async (row) => ({
        ...(params.view === 'simple' ? simpleMergeRequest(row, about) : listedMergeRequest(row, about)),
        ...(params.render_html && params.view !== 'simple' && (await htmlOf(services, actor, row))),
      })),
    )
    if (params.pagination !== 'keyset') return shown
    return new Page(shown, { keyset: true, next: nextPlace(rows, params) })
  }
  return [
    endpoint({
      method: 'GET',
      path: '/merge_requests',
      summary: 'List merge requests of all projects',
      on: instance,
      may: 'read_instance',
      paged: true,
      params: Fields({ ...all, scope: OneOf(scopes, { default: 'created_by_me' }) }),
      rules: filterRules,
      answers,
      refuses,
      read: ({ params, page }) => everywhere(params, page),
      handle: ({ actor, rows, params }) => show(actor, rows, params),
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/merge_requests',
      summary: 'List the merge requests of the projects of a group',
      on: group,
      may: 'read_group',
      anonymous: true,
      paged: true,
      params: Fields({
        ...all,
        ...everyScope,
        non_archived: Flag({ default: true, description: 'Without those of archived projects' }),
      }),
      rules: filterRules,
      answers,
      refuses,
      read: ({ params, page }) => ofGroup(params, page),
      handle: ({ actor, rows, params }) => show(actor, rows, params),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/merge_requests',
      summary: 'List the merge requests into a project',
      on: projectKind,
      may: 'read_merge_request',
      anonymous: true,
      paged: true,
      params: Fields({
        ...all,
        ...everyScope,
        iids: Optional(ListOf(Id(), { single: true, commaSeparated: true })),
      }),
      rules: filterRules,
      answers,
      refuses,
      read: ({ params, page }) => ofProject(params, page),
      handle: ({ actor, rows, params }) => show(actor, rows, params),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/deployments/:deployment_id/merge_requests',
      summary: 'List the merge requests that a deployment brought',
      description:
        'Those that were merged since the last successful deployment to the same environment; none of one that did not succeed.',
      on: projectKind,
      may: 'read_environment',
      checks: ['params', 'credentials', 'subject', 'may', 'record'],
      record: true,
      anonymous: true,
      paged: true,
      params: Fields({ deployment_id: Id(), ...all, ...everyScope }),
      rules: filterRules,
      answers,
      refuses,
      read: ({ params }) => deployedCommit(params.deployment_id),
      async handle({ actor, project, rows: [deployed], params, page }) {
        const ids = may(actor, 'read_merge_request', project)
          ? await requestsBroughtBy(services, project, deployed!)
          : []
        const { rows, total } = await readOf(
          services.db,
          projectKind,
          { actor, subjectId: project.id },
          ofProjectAmong(ids, params, page),
        )
        const shown = await show(actor, rows.slice(0, page.perPage), params)
        return shown instanceof Page ? shown : new Page(shown, { total, hasMore: rows.length > page.perPage })
      },
    }),
  ]
}

/** Lets it be found out soon whether these can be merged, where that is not known. */
async function recheck({ db }: MergeRequestServices, rows: readonly ListedRow[]): Promise<void> {
  for (const { id, state, merge_status } of rows) {
    if (state !== 'opened' || isChecked({ merge_status })) continue
    await enqueue(db.writer, refreshTask, { id }, { key: `${refreshTask}:${id}` })
  }
}

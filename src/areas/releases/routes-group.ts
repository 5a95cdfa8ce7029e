import { endpoint, group, projectFromRow } from '../../access/index.ts'
import { Either, Fields, Flag, ListOf, OneOf, type Endpoint } from '../../kernel/endpoint/index.ts'
import { BasicRelease, basicRelease, Release } from './entities.ts'
import type { ReleaseServices } from './index.ts'
import { shownReleases } from './show.ts'
import * as store from './store.ts'

/** Releases of all projects of a group and below that the caller may see them of. */
export function groupEndpoint(services: ReleaseServices): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/groups/:id/releases',
    summary: 'List the releases of the projects of a group',
    on: group,
    may: 'read_group',
    anonymous: true,
    paged: true,
    params: Fields({
      sort: OneOf(['asc', 'desc'], { default: 'desc' }),
      simple: Flag({ default: false, description: 'Without commits, assets and the like' }),
    }),
    answers: ListOf(Either(Release, BasicRelease)),
    read: ({ params, page }) => store.listOfGroup(params, page),
    async handle({ actor, params, rows }) {
      if (params.simple) return rows.map((row) => basicRelease(row, new Date()))
      const shown = await Promise.all(
        [...Map.groupBy(rows, ({ project }) => project['id'])].map(async ([, ofProject]) => {
          const [{ project, role }] = ofProject as [store.GroupReleaseRow]
          const entities = await shownReleases(services, ofProject, actor, projectFromRow(project, role))
          return ofProject.map((row, index) => [row, entities[index]] as const)
        }),
      )
      const entityOf = new Map(shown.flat())
      return rows.map((row) => entityOf.get(row))
    },
  })
}

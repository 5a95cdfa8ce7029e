import {
  endpoint,
  find,
  findGroup,
  project,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { badRequest, notFound } from '../../kernel/errors/index.ts'
import { Fields, Flag, Id, ListOf, Nullable, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { projectIdentity } from '../namespaces/index.ts'
import * as store from './store.ts'

const ListedProject = Fields({
  ...projectIdentity,
  default_branch: Nullable(Text()),
  web_url: Text(),
  http_url_to_repo: Text(),
})
const ListedGroup = Fields({ id: Id(), web_url: Text(), name: Text() })

/** Which jobs reach a project with their tokens besides its own. */
export function jobTokenScope({ db, externalUrl }: { db: Database; externalUrl: () => string }): {
  endpoints: Endpoint[]
} {
  const about = { on: project, may: 'admin_project' } as const
  const path = '/projects/:id/job_token_scope'
  const projectId = { target_project_id: Id({ description: 'Whose jobs' }) }
  const groupId = { target_group_id: Id({ description: 'The jobs of all projects below it' }) }

  const add = async (actor: Actor, to: ProjectSubject, target: store.Target): Promise<void> => {
    const outcome = await db.transaction((tx) => store.add(tx, to.id, target, userOf(actor).id))
    if (outcome === 'there') throw badRequest(`${nameOf(target)} is already in the job token scope`)
    if (outcome === 'full') throw badRequest('The job token scope has as many entries as it may have')
  }
  const remove = async (from: ProjectSubject, target: store.Target): Promise<void> => {
    if (!(await store.remove(db.writer, from.id, target))) {
      throw badRequest(`${nameOf(target)} is not in the job token scope`)
    }
  }

  return {
    endpoints: [
      endpoint({
        ...about,
        method: 'GET',
        path,
        summary: 'Tell whether jobs of other projects are kept out',
        answers: Fields({ inbound_enabled: Flag(), outbound_enabled: Flag() }),
        handle: async ({ project }) => ({
          inbound_enabled: project.settings['ci_inbound_job_token_scope_enabled'] !== false,
          outbound_enabled: project.settings['ci_job_token_scope_enabled'] === true,
        }),
      }),
      endpoint({
        ...about,
        method: 'PATCH',
        path,
        summary: 'Keep jobs of other projects out, or let all in',
        params: Fields({ enabled: Flag({ description: 'Only those on the lists come in' }) }),
        answers: null,
        status: 204,
        handle: ({ project, params }) => store.setLimited(db.writer, project.id, params.enabled),
      }),

      endpoint({
        ...about,
        method: 'GET',
        path: `${path}/allowlist`,
        summary: 'List the projects whose jobs come in',
        paged: true,
        answers: ListOf(ListedProject),
        read: ({ page }) => store.projects(page),
        async handle({ rows }) {
          return rows.map((row) => {
            const web_url = `${externalUrl()}/${row.path_with_namespace}`
            return { ...row, web_url, http_url_to_repo: `${web_url}.git` }
          })
        },
      }),
      endpoint({
        ...about,
        method: 'POST',
        path: `${path}/allowlist`,
        summary: 'Let the jobs of a project in',
        params: Fields(projectId),
        answers: Fields({ source_project_id: Id(), target_project_id: Id() }),
        async handle({ actor, project: to, params: { target_project_id } }) {
          const target = await find(db.reader, project, actor, String(target_project_id))
          if (target === undefined) throw notFound('target_project_id not found')
          if (target.id === to.id) throw badRequest('Target project is already in the job token scope')
          await add(actor, to, { project: target.id })
          return { source_project_id: to.id, target_project_id }
        },
      }),
      endpoint({
        ...about,
        method: 'DELETE',
        path: `${path}/allowlist/:target_project_id`,
        summary: 'Keep the jobs of a project out',
        params: Fields(projectId),
        answers: null,
        refuses: { 400: 'It is not on the list' },
        handle: ({ project: from, params }) => remove(from, { project: params.target_project_id }),
      }),

      endpoint({
        ...about,
        method: 'GET',
        path: `${path}/groups_allowlist`,
        summary: 'List the groups whose jobs come in',
        paged: true,
        answers: ListOf(ListedGroup),
        read: ({ page }) => store.groups(page),
        handle: async ({ rows }) =>
          rows.map(({ full_path, ...row }) => ({ ...row, web_url: `${externalUrl()}/groups/${full_path}` })),
      }),
      endpoint({
        ...about,
        method: 'POST',
        path: `${path}/groups_allowlist`,
        summary: 'Let the jobs of all projects of a group in',
        params: Fields(groupId),
        answers: Fields({ source_project_id: Id(), target_group_id: Id() }),
        async handle({ actor, project: to, params: { target_group_id } }) {
          const target = await findGroup(db.reader, actor, target_group_id)
          if (target === undefined) throw notFound('target_group_id not found')
          await add(actor, to, { group: target.id })
          return { source_project_id: to.id, target_group_id }
        },
      }),
      endpoint({
        ...about,
        method: 'DELETE',
        path: `${path}/groups_allowlist/:target_group_id`,
        summary: 'Keep the jobs of a group out',
        params: Fields(groupId),
        answers: null,
        refuses: { 400: 'It is not on the list' },
        handle: ({ project: from, params }) => remove(from, { group: params.target_group_id }),
      }),
    ],
  }
}

function nameOf(target: store.Target): string {
  return 'project' in target ? 'Target project' : 'Target group'
}

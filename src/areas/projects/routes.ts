import {
  endpoint,
  findUser,
  instance,
  may,
  project,
  require,
  userOf,
  type Actor,
  type User,
} from '../../access/index.ts'
import { offers } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { Either, Fields, Flag, Optional, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import { setAvatar, takeAvatar, type SentAvatar } from '../avatars/index.ts'
import { withAttributesParam } from '../custom-attributes/index.ts'
import { shownToken } from '../registration-tokens/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { createProject, type CreateParams } from './create.ts'
import * as entities from './entities.ts'
import { contextOf } from './entities.ts'
import { BasicProject, Project, ProjectWithAccess } from './shapes.ts'
import { changesMergeSettingsOnly } from './merge-settings.ts'
import type { ForkServices } from './forking.ts'
import { commitReadme, readmePath, type Bring } from './first-commit.ts'
import { findLandmarks } from './landmarks.ts'
import { importRepository } from '../mirrors/index.ts'
import { mirrorChange, type MirrorParams } from './mirror-change.ts'
import { createForUserParams, createParams, createRules, updateParams } from './params.ts'
import type { ProjectRow } from './rows.ts'
import { showProjects, type ShowServices } from './shown.ts'
import * as store from './store.ts'
import { updateProject } from './update.ts'

export interface ProjectServices extends ShowServices {
  readonly outbound: Outbound
  readonly db: Database
  readonly events: Events
  readonly settings: Settings
  readonly cipher: Cipher
  readonly places: RepositoryPlaces
  readonly door: { readonly bring: Bring } & ForkServices['door']
}

export function projectEndpoints(services: ProjectServices): Endpoint[] {
  const { db, settings } = services
  const offersMirrors = offers(services.plan, 'pull_mirrors')

  const create = async (
    creator: { actor: Actor; user: User },
    params: CreateParams &
      MirrorParams & { readonly initialize_with_readme: boolean; readonly avatar?: SentAvatar },
  ) => {
    const { actor } = creator
    const url = params.import_url?.trim() ?? ''
    const follows = params.mirror === true && offersMirrors
    const mirror = follows ? await mirrorChange(services, actor, undefined, params) : undefined
    const importing = follows || url === '' ? undefined : await importRepository(services, actor, url)
    const made = await createProject({ ...services, settings: settings.values }, creator, params, importing)
    await db.transaction(async (tx) => {
      await setAvatar(tx, 'project', made.id, params.avatar)
      await mirror?.(tx, made.id)
    })
    // What is imported brings its own.
    if (params.initialize_with_readme && importing === undefined) {
      await commitReadme(services, creator, made)
      await store.setReadme(db.writer, made.id, readmePath)
    }
    return full(actor, made.id)
  }

  const show = async (row: ProjectRow, form: entities.ProjectForm, context: entities.EntityContext) =>
    (await showProjects(services, [row], form, context))[0]!
  /** What only those who look after a project are told. */
  const more = async (actor: Actor, row: ProjectRow) => ({
    ...contextOf(services, actor),
    ...(may(actor, 'admin_project', entities.subjectOf(row)) && {
      runnersToken: await shownToken(
        services,
        { projectId: row.id, namespaceId: null },
        row.sealed_runners_token ?? null,
      ),
    }),
  })
  const full = async (actor: Actor, id: number) => {
    const row = await store.read(db.reader, actor, id)
    return show(row, 'full', await more(actor, row))
  }

  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id',
      summary: 'Get a project',
      description: 'Visitors get the short form; some fields are for Maintainers.',
      on: project,
      may: 'read_project',
      anonymous: true,
      params: Fields({
        statistics: Optional(Flag({ description: 'With what the project takes, for Reporters and above' })),
        ...withAttributesParam,
        license: Optional(Flag({ description: 'With the fields `license` and `license_url`' })),
      }),
      answers: Either(ProjectWithAccess, BasicProject),
      read: ({ params }) => store.ofSubject(params),
      handle: async ({ actor, rows, params }) =>
        show(rows[0]!, actor.user === null ? 'basic' : 'with access', {
          ...(await more(actor, rows[0]!)),
          license: params.license,
        }),
    }),

    endpoint({
      method: 'POST',
      path: '/projects',
      summary: 'Create a project',
      on: instance,
      may: 'create_project',
      takeFile: takeAvatar,
      params: createParams,
      rules: createRules,
      answers: Project,
      refuses: {
        400: 'A rule is broken',
        403: 'The limit of personal projects is reached, or nothing is imported by address (`import_sources`)',
        422: 'The repository at `import_url` does not answer',
      },
      handle: async ({ actor, params }) => create({ actor, user: userOf(actor) }, params),
    }),

    endpoint({
      method: 'POST',
      path: '/projects/user/:user_id',
      summary: 'Create a project in the personal namespace of a user',
      on: instance,
      may: 'admin_users',
      takeFile: takeAvatar,
      params: createForUserParams,
      rules: { mutuallyExclusive: createRules.mutuallyExclusive },
      answers: Project,
      refuses: { 404: 'No such user' },
      async handle({ actor, params }) {
        const user = await findUser(db.reader, String(params.user_id))
        if (user === undefined) throw notFound('User')
        return create({ actor, user }, params)
      },
    }),

    endpoint({
      method: 'PUT',
      path: '/projects/:id',
      summary: 'Change a project',
      description: 'Another `visibility` is for Owners. The old path leads to a renamed project.',
      on: project,
      may: 'read_project',
      takeFile: takeAvatar,
      params: updateParams,
      answers: Project,
      refuses: { 400: 'A rule is broken' },
      async handle({ actor, project, params }) {
        // A custom role may give the settings of merge requests alone.
        const less = changesMergeSettingsOnly(params) && may(actor, 'admin_merge_request_settings', project)
        if (!less) require(actor, 'admin_project', project)
        const mirror = offersMirrors ? await mirrorChange(services, actor, project.id, params) : undefined
        await updateProject({ ...services, settings: settings.values }, actor, project, params)
        if (params.default_branch !== undefined) await findLandmarks(services, project.id)
        await db.transaction(async (tx) => {
          await setAvatar(tx, 'project', project.id, params.avatar)
          await mirror?.(tx, project.id)
        })
        return full(actor, project.id)
      },
    }),
  ]
}

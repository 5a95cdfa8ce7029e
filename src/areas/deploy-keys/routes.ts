import {
  endpoint,
  findUser,
  instance,
  isAdministrator,
  project as projectKind,
  userOf,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  DateTime,
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import { checkKey, taken } from '../ssh-keys/index.ts'
import { DeployKey, deployKey, InstanceDeployKey, instanceDeployKey, ProjectDeployKey } from './entities.ts'
import * as store from './store.ts'

export interface DeployKeyServices {
  readonly db: Database
  readonly settings: Settings
}

const path = '/projects/:id/deploy_keys'
const record = 'Deploy Key'
const about = {
  key: Text({ blank: false, description: 'The public key, in one line' }),
  title: Text({ blank: false, maxLength: 255 }),
  expires_at: Optional(DateTime()),
}
/** How faults of a key are named that comes with its place in a project. */
const faultPrefix = 'deploy_key.'

export function deployKeyEndpoints(services: DeployKeyServices): Endpoint[] {
  return [...projectEndpoints(services), ...instanceEndpoints(services)]
}

function projectEndpoints({ db, settings }: DeployKeyServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the deploy keys of a project',
      on: projectKind,
      may: 'admin_deploy_key',
      paged: true,
      answers: ListOf(ProjectDeployKey),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows.map(deployKey),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:key_id`,
      summary: 'Get a deploy key of a project',
      on: projectKind,
      may: 'admin_deploy_key',
      params: Fields({ key_id: Id() }),
      record,
      answers: ProjectDeployKey,
      read: ({ params }) => store.one(params.key_id),
      handle: async ({ rows }) => deployKey(rows[0]!),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Add a deploy key to a project',
      description: 'A deploy key that the instance has already is enabled.',
      on: projectKind,
      may: 'change_deploy_key',
      params: Fields({ ...about, can_push: Flag({ default: false }) }),
      answers: ProjectDeployKey,
      refuses: { 400: 'It is no key, is not allowed here, or is there already' },
      async handle({ actor, project, params }) {
        const key = checkKey(settings, { ...params, expiresAt: params.expires_at }, faultPrefix)
        return db.transaction(async (tx) => {
          const known = await store.findByFingerprint(tx, key.fingerprintSha256)
          if (known?.kind === 'user') throw taken(faultPrefix)
          const options = { isPublic: false, faultPrefix }
          const { id } = known ?? (await store.create(tx, key, userOf(actor).id, options))
          if (!(await store.enable(tx, project.id, id, params.can_push))) throw taken(faultPrefix)
          return deployKey(await store.find(tx, project.id, id))
        })
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:key_id`,
      summary: 'Change a deploy key of a project',
      description: 'The title of a key that other projects use is for administrators to change.',
      on: projectKind,
      may: 'change_deploy_key',
      params: Fields({ key_id: Id(), title: Optional(Text({ maxLength: 255 })), can_push: Optional(Flag()) }),
      record,
      answers: ProjectDeployKey,
      read: ({ params }) => store.one(params.key_id),
      handle: ({ actor, project, params }) =>
        db.transaction(async (tx) => {
          const title = params.title?.trim()
          if (title === '') throw invalid({ 'deploy_key.title': ["can't be blank"] })
          if (title !== undefined && title.length > 255) {
            throw invalid({ 'deploy_key.title': ['is too long (maximum is 255 characters)'] })
          }
          const elsewhere =
            title !== undefined && (await store.isUsedElsewhere(tx, project.id, params.key_id))
          if (elsewhere && !isAdministrator(actor)) throw forbidden()
          await store.change(tx, project.id, params.key_id, { title, canPush: params.can_push })
          return deployKey(await store.find(tx, project.id, params.key_id))
        }),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:key_id`,
      summary: 'Remove a deploy key from a project',
      on: projectKind,
      may: 'change_deploy_key',
      params: Fields({ key_id: Id() }),
      record,
      answers: null,
      refuses: whenChanged,
      read: ({ params }) => store.one(params.key_id),
      async handle({ project, params, rows, request }) {
        requireUnmodified(request, rows[0]!.created_at)
        await db.transaction((tx) => store.disable(tx, project.id, params.key_id))
      },
    }),

    endpoint({
      method: 'POST',
      path: `${path}/:key_id/enable`,
      summary: 'Enable a deploy key that another project has',
      description: 'A public one, or one of another project of which you are Maintainer.',
      on: projectKind,
      may: 'change_deploy_key',
      params: Fields({ key_id: Id() }),
      record,
      answers: ProjectDeployKey,
      read: ({ params }) => store.reachable(params.key_id),
      handle: ({ project, params }) =>
        db.transaction(async (tx) => {
          await store.enable(tx, project.id, params.key_id, false)
          return deployKey(await store.find(tx, project.id, params.key_id))
        }),
    }),
  ]
}

function instanceEndpoints({ db, settings }: DeployKeyServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/deploy_keys',
      summary: 'List the deploy keys of the instance',
      on: instance,
      may: 'admin_instance',
      paged: true,
      params: Fields({
        public: Flag({ default: false, description: 'Only those that every project may enable' }),
      }),
      answers: ListOf(InstanceDeployKey),
      read: ({ params, page }) => store.listAll(params.public, page),
      handle: async ({ rows }) => rows.map(instanceDeployKey),
    }),

    endpoint({
      method: 'POST',
      path: '/deploy_keys',
      summary: 'Add a deploy key that every project may enable',
      on: instance,
      may: 'admin_instance',
      params: Fields(about),
      answers: InstanceDeployKey,
      refuses: { 400: 'It is no key, is not allowed here, or is there already' },
      async handle({ actor, params }) {
        const key = checkKey(settings, { ...params, expiresAt: params.expires_at })
        const options = { isPublic: true, faultPrefix: '' }
        return instanceDeployKey({
          ...(await store.create(db.writer, key, userOf(actor).id, options)),
          projects: [],
        })
      },
    }),

    endpoint({
      method: 'GET',
      path: '/users/:id/project_deploy_keys',
      summary: 'List the deploy keys of projects that you and a user maintain',
      on: instance,
      may: 'read_instance',
      paged: true,
      params: Fields({ id: Either(Id(), Text()) }),
      answers: ListOf(DeployKey),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => store.ofUser(params.id, page),
      async handle({ actor, params, rows }) {
        const { id } = userOf(actor)
        const user = await findUser(db.reader, params.id)
        if (user === undefined) throw notFound('User')
        if (id !== user.id && !(await store.shareProject(db.reader, id, user.id))) {
          throw forbidden('No common authorized project found')
        }
        return rows.map(deployKey)
      },
    }),
  ]
}

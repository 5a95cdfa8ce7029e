import {
  endpoint,
  enterAs,
  isVisible,
  group as groupKind,
  instance,
  may,
  project as projectKind,
  runner as runnerKind,
  userOf,
  type Actor,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import { ApiError, forbidden, invalidParameters, notFound } from '../../kernel/errors/index.ts'
import {
  Fields,
  Id,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { runnerTypes } from '../jobs/index.ts'
import { RunnerIdentity, RunnerToken } from './entities.ts'
import type { RunnerServices } from './index.ts'
import { expiryOf, requireProject, runnerParams, runnerValues } from './rules.ts'
import * as reading from './reading.ts'
import * as store from './store.ts'

const token = Text({ description: 'Token of the runner' })

/** How runners come to be, and prove who they are (completions, 8.1). */
export function identityEndpoints({ db, settings }: RunnerServices): Endpoint[] {
  const place = async (
    actor: Actor,
    params: { runner_type: string; group_id?: number | undefined; project_id?: number | undefined },
  ): Promise<{ namespaceId: number | null; projectId: number | null }> => {
    const insufficient = forbidden('Insufficient permissions')
    const { id } = userOf(actor)
    if (params.runner_type === 'instance_type') {
      if (!may(actor, 'admin_instance', { kind: 'instance' })) throw insufficient
      return { namespaceId: null, projectId: null }
    }
    if (params.runner_type === 'group_type') {
      if (params.group_id === undefined) throw invalidParameters(['group_id is missing'])
      const found = await enterAs<GroupSubject>(db, groupKind, id, params.group_id)
      if (found === undefined || !isVisible(found.actor, found.subject)) throw notFound('Group')
      if (!may(actor, 'admin_group_runner', found.subject)) throw insufficient
      return { namespaceId: params.group_id, projectId: null }
    }
    if (params.project_id === undefined) throw invalidParameters(['project_id is missing'])
    const found = await enterAs<ProjectSubject>(db, projectKind, id, params.project_id)
    if (found === undefined || !isVisible(found.actor, found.subject)) throw notFound('Project')
    if (!may(actor, 'admin_runner', found.subject)) throw insufficient
    return { namespaceId: null, projectId: params.project_id }
  }

  return [
    endpoint({
      method: 'POST',
      path: '/user/runners',
      summary: 'Create a runner',
      description: 'The token is shown this once.',
      on: instance,
      may: 'read_instance',
      scopes: ['create_runner'],
      params: Fields({
        runner_type: OneOf(...runnerTypes),
        group_id: Optional(Id()),
        project_id: Optional(Id()),
        ...runnerParams,
      }),
      rules: { mutuallyExclusive: [['active', 'paused']] },
      answers: RunnerIdentity,
      async handle({ actor, params }) {
        const { runner_type } = params
        const where = await place(actor, params)
        const values = runnerValues(params)
        return db.transaction((tx) =>
          store.create(
            tx,
            {
              ...values,
              ...where,
              runner_type,
              createdById: userOf(actor).id,
              creation: 'api',
              expiresAt: expiryOf(runner_type, settings.values, new Date()),
            },
            settings.limits,
          ),
        )
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/runners',
      summary: 'Delete a runner, as itself',
      on: runnerKind,
      may: 'act_as_runner',
      params: Fields({ token }),
      answers: null,
      refuses: whenChanged,
      read: () => reading.ownFacts(),
      async handle({ runner, rows, request }) {
        requireUnmodified(request, rows[0]!.updated_at)
        await db.transaction((tx) => store.remove(tx, runner.id))
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/runners/managers',
      summary: 'Forget one program that worked as a runner, as the runner',
      on: runnerKind,
      may: 'act_as_runner',
      params: Fields({ token, system_id: Text() }),
      answers: null,
      refuses: { 404: 'There is none with this system_id' },
      async handle({ runner, params }) {
        const gone = await db.transaction((tx) => store.removeManager(tx, runner.id, params.system_id))
        if (!gone) throw notFound('Runner manager not found')
      },
    }),

    endpoint({
      method: 'POST',
      path: '/runners/verify',
      summary: "Check a runner's token, as the runner",
      description: 'With `system_id` the program that speaks for the runner is noted from then on.',
      on: runnerKind,
      may: 'act_as_runner',
      plainText: true,
      params: Fields({ token, system_id: Optional(Text()) }),
      answers: RunnerIdentity,
      status: 200,
      refuses: { 422: 'A project runner without a project' },
      read: () => reading.ownFacts(),
      async handle({ runner, params, rows, request }) {
        const { projects, token_expires_at } = rows[0]!
        requireProject(runner, projects)
        const { system_id: systemId } = params
        if (systemId !== undefined) {
          await store.noteContact(db, runner.id, { ...store.unknownManager, systemId, ip: request.ip })
        }
        return { id: runner.id, token: params.token, token_expires_at }
      },
    }),

    endpoint({
      method: 'GET',
      path: '/runners/router/discovery',
      summary: 'Ask where jobs are handed out without being asked for, as the runner',
      description: 'Nowhere: the runner goes on asking for jobs, which holds its requests open.',
      on: runnerKind,
      may: 'act_as_runner',
      params: Fields({ token: Optional(Text({ description: 'If not in the header Runner-Token' })) }),
      answers: Fields({ server_url: Text() }),
      refuses: { 501: 'There is no such place' },
      handle: () => Promise.reject(new ApiError(501, { message: '501 Not Implemented' })),
    }),

    endpoint({
      method: 'POST',
      path: '/runners/reset_authentication_token',
      summary: 'Get a new token, as the runner',
      on: runnerKind,
      may: 'act_as_runner',
      plainText: true,
      params: Fields({ token }),
      answers: RunnerToken,
      async handle({ runner }) {
        const expiresAt = expiryOf(runner.runnerType, settings.values, new Date())
        return db.transaction((tx) => store.renewToken(tx, runner.id, expiresAt))
      },
    }),
  ]
}

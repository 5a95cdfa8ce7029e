import { endpoint, group, instance, project } from '../../access/index.ts'
import { ApiError, forbidden } from '../../kernel/errors/index.ts'
import { Fields, Nullable, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { RunnerIdentity, RunnerToken } from './entities.ts'
import type { RunnerServices } from './index.ts'
import { findPlace, renewToken, type RegistrationPlace } from '../registration-tokens/index.ts'
import { expiryOf, RunnerInfo, runnerParams, runnerValues } from './rules.ts'
import * as store from './store.ts'

/** The older way for runners to come to be: with the registration token of a place (completions, 8.1). */
export function registrationEndpoints({ db, cipher, settings }: RunnerServices): Endpoint[] {
  const renew = async (place: RegistrationPlace): Promise<Record<string, unknown>> => ({
    token: await db.transaction((tx) => renewToken(tx, cipher, place)),
    token_expires_at: null,
  })
  const about = { method: 'POST', answers: RunnerToken } as const
  const once = 'The token before is worth nothing from now on.'

  return [
    endpoint({
      method: 'POST',
      path: '/runners',
      summary: 'Register a runner with a registration token',
      description: 'The older way; create runners with `POST /user/runners` instead.',
      on: instance,
      may: 'use_instance',
      plainText: true,
      anonymous: true,
      checks: ['params'],
      params: Fields({
        token: Text({ description: 'Registration token' }),
        info: Optional(Nullable(RunnerInfo)),
        ...runnerParams,
      }),
      rules: { mutuallyExclusive: [['active', 'paused']] },
      answers: RunnerIdentity,
      refuses: { 403: 'No such token', 410: 'The instance takes no registration tokens' },
      async handle({ params }) {
        const { allow_runner_registration_token: allowed, valid_runner_registrars: registrars } =
          settings.values
        if (!allowed) throw new ApiError(410, { message: '410 Gone - runner registration disallowed' })
        const place = await findPlace(db.reader, params.token)
        const kind = place === undefined ? undefined : kindOf(place)
        if (place === undefined || (kind !== 'instance' && !registrars.some((one) => one === kind))) {
          throw forbidden('invalid token supplied')
        }
        const values = runnerValues({
          ...params,
          description: params.description ?? params.info?.name ?? undefined,
        })
        const runner_type = `${kindOf(place)}_type` as const
        return db.transaction((tx) =>
          store.create(
            tx,
            {
              ...values,
              ...place,
              name: params.info?.name ?? null,
              runner_type,
              createdById: null,
              creation: 'registration',
              expiresAt: expiryOf(runner_type, settings.values, new Date()),
            },
            settings.limits,
          ),
        )
      },
    }),

    endpoint({
      ...about,
      path: '/runners/reset_registration_token',
      summary: 'Get a new registration token of the instance',
      description: once,
      on: instance,
      may: 'admin_instance',
      params: Fields({}),
      handle: () => renew({ namespaceId: null, projectId: null }),
    }),
    endpoint({
      ...about,
      path: '/groups/:id/runners/reset_registration_token',
      summary: 'Get a new registration token of a group',
      description: once,
      on: group,
      may: 'admin_group_runner',
      params: Fields({}),
      handle: ({ group: { id } }) => renew({ namespaceId: id, projectId: null }),
    }),
    endpoint({
      ...about,
      path: '/projects/:id/runners/reset_registration_token',
      summary: 'Get a new registration token of a project',
      description: once,
      on: project,
      may: 'admin_runner',
      params: Fields({}),
      handle: ({ project: { id } }) => renew({ namespaceId: null, projectId: id }),
    }),
  ]
}

function kindOf({ namespaceId, projectId }: RegistrationPlace): 'instance' | 'group' | 'project' {
  if (projectId !== null) return 'project'
  return namespaceId === null ? 'instance' : 'group'
}

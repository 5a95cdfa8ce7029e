import { endpoint, instance, userOf } from '../../access/index.ts'
import {
  Fields,
  Hash,
  Int,
  Json,
  ListOf,
  OneOf,
  Optional,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { planLimitNames, type Settings, type StoredLimits } from '../../settings/index.ts'

const path = '/application/plan_limits'

const Limits = Fields({
  ...(Object.fromEntries(planLimitNames.map((name) => [name, Int()])) as Record<
    string,
    ReturnType<typeof Int>
  >),
  limits_history: Hash(ListOf(Json()), { description: 'Who set a limit to what, and when' }),
})

/** Limits of the instance beside its settings: how much CI/CD one project may have, how large packages may be. */
export function planLimits({ settings }: { settings: Settings }): { endpoints: Endpoint[] } {
  const shown = async (): Promise<Record<string, unknown>> => entity(await settings.storedLimits())
  const entity = ({ history }: StoredLimits): Record<string, unknown> => ({
    ...settings.limits,
    limits_history: history,
  })
  return {
    endpoints: [
      endpoint({
        method: 'GET',
        path,
        summary: 'Get the limits of the instance',
        on: instance,
        may: 'admin_instance',
        params: Fields({ plan_name: OneOf(['default'], { default: 'default' }) }),
        answers: Limits,
        handle: () => shown(),
      }),
      endpoint({
        method: 'PUT',
        path,
        summary: 'Change limits of the instance',
        on: instance,
        may: 'admin_instance',
        params: Fields({
          plan_name: OneOf(['default'], {}),
          ...(Object.fromEntries(
            planLimitNames.map((name) => [
              name,
              Optional(Int({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
            ]),
          ) as Record<string, ReturnType<typeof Optional<ReturnType<typeof Int>>>>),
        }),
        answers: Limits,
        async handle({ actor, params }) {
          const { plan_name: _plan, ...asked } = params
          await settings.changeLimits(asked, userOf(actor))
          return shown()
        },
      }),
    ],
  }
}

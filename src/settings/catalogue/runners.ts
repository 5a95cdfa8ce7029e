import { Flag, Int, ListOf, Nullable, OneOf } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

const lifetime = (kind: string) =>
  setting(Nullable(Int({ minimum: 7200 })), null, {
    about: `Life of the authentication tokens of ${kind} runners, in seconds; null is for ever.`,
    effect: '`token_expires_at` of runners that are made, or get a new token, from now on.',
  })

/** How runners come to be. */
export const runnerSettings = {
  allow_runner_registration_token: setting(Flag(), true, {
    about: 'Whether runners may be registered with a registration token.',
    effect: 'Registering answers 410 where not.',
  }),
  valid_runner_registrars: setting(ListOf(OneOf('project', 'group')), ['project', 'group'], {
    about: 'Whose registration tokens are taken, besides that of the instance.',
    effect: 'A token of another kind is answered like an unknown one.',
  }),
  runner_token_expiration_interval: lifetime('instance'),
  group_runner_token_expiration_interval: lifetime('group'),
  project_runner_token_expiration_interval: lifetime('project'),
}

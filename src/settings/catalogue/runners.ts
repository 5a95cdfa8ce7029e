import { choices, flag, int, intOrNull, textOrNull } from '../kinds.ts'

/** Characters of a page that people read. */
const longestPage = 1_000_000

const lifetime = (kind: string) =>
  intOrNull(
    null,
    `Life in seconds of the authentication tokens of ${kind} runners that are made, or get a new token, from now on; null is for ever.`,
    { min: 7200, strict: true },
  )

/** How runners come to be. */
export const runnerSettings = {
  allow_runner_registration_token: flag(
    true,
    'Whether runners may be registered with a registration token. Registering answers 410 where not.',
    { strict: true },
  ),
  valid_runner_registrars: choices(
    ['project', 'group'],
    ['project', 'group'],
    'Whose registration tokens are taken, besides that of the instance. A token of another kind is answered like an unknown one.',
    {
      unlisted: (entries) =>
        `[${entries.map((entry) => JSON.stringify(entry)).join(', ')}] is not included in the list`,
    },
  ),
  shared_runners_enabled: flag(true, 'shared_runners_enabled default of new projects.', { strict: true }),
  shared_runners_text: textOrNull(null, 'Markdown shown next to the instance runners.', {
    longest: longestPage,
    recorded: true,
  }),
  shared_runners_minutes: int(0, 'Monthly compute minutes per group on instance runners; 0 unlimited.', {
    min: 0,
    plan: 'premium',
  }),
  runner_token_expiration_interval: lifetime('instance'),
  group_runner_token_expiration_interval: lifetime('group'),
  project_runner_token_expiration_interval: lifetime('project'),
}

import { variables } from '../../src/kernel/config/index.ts'
import { page, table } from './markdown.ts'

/** `docs/configuration.md`: every environment variable. */
export function configurationPage(): string {
  const rows = Object.entries(variables).map(([name, { fallback, about }]) => [
    `\`${name}\``,
    fallback === 'unset' || fallback.includes(' ') ? fallback : `\`${fallback}\``,
    about,
  ])
  return page(
    'Configuration',
    'The service is configured by environment variables; an empty one counts as unset. A value that cannot be used ' +
      'ends the start with one line that names it. What is changed while the service runs are the ' +
      '[settings](settings.md).',
    table(['Variable', 'Default', 'What it does'], rows),
    'Generated from `src/kernel/config/environment.ts` by `npm run generate`.',
  )
}

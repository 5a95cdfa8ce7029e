import { scopesOf } from '../../src/access/index.ts'
import type { Endpoint, Registry } from '../../src/kernel/endpoint/index.ts'
import { tagOf } from '../../src/kernel/endpoint/openapi-names.ts'
import { page, table } from './markdown.ts'

/** Who may call, in a few words: the ability, and what stands beside a user's token. */
function callers(endpoint: Endpoint): string {
  const kind = endpoint.on.name as string
  const further = [
    endpoint.anonymous === true && 'anonymous too',
    endpoint.jobToken === true && 'job token too',
    endpoint.plan !== undefined && `plan ${endpoint.plan}`,
  ].filter((text) => text !== false)
  return [`\`${endpoint.may as string}\` on ${kind}`, ...further].join(', ')
}

function scopes(endpoint: Endpoint): string {
  const kind = endpoint.on.name as string
  return kind === 'runner' || kind === 'job' ? '' : scopesOf(endpoint).join(' ')
}

/** `docs/endpoints.md`: every endpoint in a line, so that a review sees what the API gains or loses. */
export function endpointsPage({ routes }: Registry): string {
  const groups = Map.groupBy(
    routes.map(({ endpoint }) => endpoint),
    tagOf,
  )
  const sections = [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, endpoints]) => [
      `## ${name}`,
      table(
        ['Endpoint', 'What it does', 'Who', 'Scopes'],
        endpoints.map((endpoint) => [
          `\`${endpoint.method} ${endpoint.path}\``,
          endpoint.summary,
          callers(endpoint),
          scopes(endpoint),
        ]),
      ),
    ])
  return page(
    'Endpoints',
    'Every endpoint of the REST API, below `/api/v4`. Parameters and answers stand in the OpenAPI document, which a ' +
      'running instance serves at `/api/v4/openapi.json` and shows at `/-/api`.',
    ...sections,
    'Generated from the declarations by `npm run generate`.',
  )
}

import { apiPrefix } from '../kernel/endpoint/index.ts'
import { addressTable, slot } from '../kernel/lib/address-forms.ts'

/**
 * Addresses that stand in our answers, or that clients know by heart, where an endpoint of the API has the very bytes:
 * it answers them too, with its checks. `*` is the end of a path, slashes and all.
 */
const addresses: readonly (readonly [address: string, twin: string])[] = [
  [
    '/:project/-/releases/permalink/latest/downloads/*',
    '/projects/:project/releases/permalink/latest/downloads/*',
  ],
  ['/:project/-/releases/:ref/downloads/*', '/projects/:project/releases/:ref/downloads/*'],

  ['/-/project/:id/uploads/:secret/:name', '/projects/:id/uploads/:secret/:name'],
  ['/-/group/:id/uploads/:secret/:name', '/groups/:id/uploads/:secret/:name'],
  ['/groups/:place/-/uploads/:secret/:name', '/groups/:place/uploads/:secret/:name'],
  ['/:project/uploads/:secret/:name', '/projects/:project/uploads/:secret/:name'],

  ['/-/snippets/:id/raw', '/snippets/:id/raw'],
  ['/-/snippets/:id/raw/:name/:path', '/snippets/:id/files/:name/:path/raw'],
  ['/:project/-/snippets/:id/raw', '/projects/:project/snippets/:id/raw'],
  ['/:project/-/snippets/:id/raw/:name/:path', '/projects/:project/snippets/:id/files/:name/:path/raw'],

  ['/:project/-/jobs/:id/raw', '/projects/:project/jobs/:id/trace'],
  ['/:project/-/jobs/:id/artifacts/download', '/projects/:project/jobs/:id/artifacts'],
  ['/:project/-/jobs/:id/artifacts/raw/*', '/projects/:project/jobs/:id/artifacts/*'],
  ['/:project/-/jobs/artifacts/:ref/download', '/projects/:project/jobs/artifacts/:ref/download'],
  ['/:project/-/jobs/artifacts/:ref/raw/*', '/projects/:project/jobs/artifacts/:ref/raw/*'],

  ['/:project/-/merge_requests/:id.diff', '/projects/:project/merge_requests/:id/raw_diffs'],

  ['/:project/badges/:ref/pipeline.svg', '/projects/:project/badges/:ref/pipeline.svg'],
  ['/:project/badges/:ref/coverage.svg', '/projects/:project/badges/:ref/coverage.svg'],
  ['/:project/-/badges/release.svg', '/projects/:project/badges/release.svg'],
]

const find = addressTable(addresses)
const ofOthers = /^\/(?:api|v2)\//

/** The address in the API that has what is at this one, if it is one of those above. */
export function twinOf(url: string): string | undefined {
  const at = url.indexOf('?')
  const [path, query] = at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at)]
  const found = ofOthers.test(path) ? undefined : find(path)
  if (found === undefined) return undefined
  const { rest = '', ...named } = found.named
  // In the API a name with slashes is one part of the path.
  const filled = found.value.replace(slot, (_, name: string) => named[name]!.replaceAll('/', '%2F'))
  return apiPrefix + filled.replace(/\*$/, () => rest) + query
}

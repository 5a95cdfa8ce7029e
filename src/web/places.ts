import { addressTable, type AddressFound } from '../kernel/lib/address-forms.ts'

/**
 * The pages at the addresses that answers of the API name (`web_url`), and where what they name is made. Each is a script of
 * `browser/places/`. Whether something is there, and for whom, the script learns from the API.
 */
const find = addressTable([
  ['/explore', 'projects'],
  ['/explore/projects', 'projects'],
  ['/dashboard/projects', 'projects'],
  ['/explore/groups', 'groups'],
  ['/dashboard/groups', 'groups'],
  ['/projects/new', 'new-project'],
  ['/groups/new', 'new-group'],
  ['/groups/:place', 'group'],
  ['/groups/:place/-/group_members', 'group-members'],
  ['/groups/:place/-/wikis', 'group-wiki'],
  ['/groups/:place/-/wikis/*', 'group-wiki'],

  ['/:project/-/tree/*', 'tree'],
  ['/:project/-/blob/*', 'blob'],
  ['/:project/-/commits', 'commits'],
  ['/:project/-/commits/*', 'commits'],
  ['/:project/-/commit/:sha', 'commit'],
  ['/:project/-/branches', 'branches'],
  ['/:project/-/tags', 'tags'],
  ['/:project/-/tags/*', 'tag'],
  ['/:project/-/issues', 'issues'],
  ['/:project/-/issues/new', 'new-issue'],
  ['/:project/-/issues/:id', 'issue'],
  ['/:project/-/merge_requests', 'merge-requests'],
  ['/:project/-/merge_requests/new', 'new-merge-request'],
  ['/:project/-/merge_requests/:id', 'merge-request'],
  ['/:project/-/merge_requests/:id/commits', 'merge-request-commits'],
  ['/:project/-/merge_requests/:id/diffs', 'merge-request-diffs'],
  ['/:project/-/environments', 'environments'],
  ['/:project/-/releases', 'releases'],
  ['/:project/-/releases/permalink/latest', 'release'],
  ['/:project/-/releases/*', 'release'],
  ['/:project/-/wikis', 'wiki'],
  ['/:project/-/wikis/*', 'wiki'],
  ['/:project/-/project_members', 'project-members'],
  ['/:project/-/pipelines', 'pipelines'],
  ['/:project/-/pipelines/:id', 'pipeline'],
  ['/:project/-/jobs/:id', 'job'],

  ['/:owner', 'owner'],
  ['/:project', 'project'],
])

/** Below these is nothing that somebody could own. */
const ofOthers =
  /^\/(?:-|api|v2|users|oauth|admin|assets|uploads|groups|projects|explore|dashboard|search)(?:\/|$)/

/** The page at this address, and what the address names. */
export function placeAt(path: string): AddressFound<string> | undefined {
  const found = find(path)
  if (found === undefined) return undefined
  const isNamed = found.value === 'owner' || found.value === 'project'
  return isNamed && ofOthers.test(path) ? undefined : found
}

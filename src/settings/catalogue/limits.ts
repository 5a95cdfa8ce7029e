import { entriesUpTo } from '../formats.ts'
import { int, limit, text } from '../kinds.ts'

/** How often single endpoints may be called. */
export const limitSettings = {
  autocomplete_users: int(
    300,
    'Requests per minute one signed-in user may make to GET /autocomplete/users.',
    { min: 1, strict: true, vendor: 'autocomplete_users_limit' },
  ),
  autocomplete_users_unauthenticated: int(
    100,
    'Requests per minute one IP address may make to GET /autocomplete/users without signing in.',
    { min: 1, strict: true, vendor: 'autocomplete_users_unauthenticated_limit' },
  ),
  issues_create_limit: limit(300, 'Issues (and epics) one user may create per minute in one project', {
    strict: true,
  }),
  raw_blob_request_limit: limit(
    300,
    'Requests per minute to one raw file path of one project, whoever asks',
    { strict: true },
  ),
  project_jobs_api_rate_limit: int(600, 'Requests per minute one user may make to GET /projects/:id/jobs.', {
    min: 1,
    strict: true,
  }),
  projects_api_rate_limit_unauthenticated: limit(
    400,
    'Anonymous requests per 10 minutes and IP address to GET /projects',
  ),
  users_api_limit_followers: limit(
    100,
    'Requests per minute to GET /users/:id/followers (administrators exempt), per user or (anonymous) per IP address',
  ),
  users_api_limit_following: limit(
    100,
    'Requests per minute to GET /users/:id/following (administrators exempt), per user or (anonymous) per IP address',
  ),
  users_api_limit_status: limit(
    240,
    'Requests per minute to GET /users/:id/status, per user or (anonymous) per IP address',
  ),
  users_api_limit_ssh_keys: limit(
    120,
    'Requests per minute to GET /users/:id/keys, per user or (anonymous) per IP address',
  ),
  users_api_limit_ssh_key: limit(
    120,
    'Requests per minute to GET /users/:id/keys/:key_id, per user or (anonymous) per IP address',
  ),
  users_api_limit_gpg_keys: limit(
    120,
    'Requests per minute to GET /users/:id/gpg_keys, per user or (anonymous) per IP address',
  ),
  users_api_limit_gpg_key: limit(
    120,
    'Requests per minute to GET /users/:id/gpg_keys/:key_id, per user or (anonymous) per IP address',
  ),
  notes_create_limit: limit(300, 'Notes one user may create per minute'),
  members_delete_limit: limit(60, 'Member removals per minute'),
  users_get_by_id_limit: limit(300, 'Requests per 10 minutes to GET /users/:id (administrators exempt)', {
    strict: true,
  }),
  search_rate_limit: limit(30, 'Searches per minute for a signed-in user'),
  search_rate_limit_unauthenticated: limit(10, 'Anonymous searches per minute'),
  project_import_limit: limit(6, 'Project imports started per minute'),
  project_export_limit: limit(6, 'Project exports started per minute'),
  project_download_export_limit: limit(1, 'Project export downloads per minute'),
  group_import_limit: limit(6, 'Group imports started per minute'),
  group_export_limit: limit(6, 'Group exports started per minute'),
  group_download_export_limit: limit(1, 'Group export downloads per minute'),
  group_api_limit: limit(400, 'Requests per minute to GET /groups/:id'),
  groups_api_limit: limit(200, 'Requests per minute to GET /groups'),
  group_projects_api_limit: limit(600, 'Requests per minute to GET /groups/:id/projects'),
  group_shared_groups_api_limit: limit(60, 'Requests per minute to GET /groups/:id/groups/shared'),
  group_invited_groups_api_limit: limit(60, 'Requests per minute to GET /groups/:id/invited_groups'),
  project_api_limit: limit(400, 'Requests per minute to GET /projects/:id'),
  projects_api_limit: limit(2000, 'Signed-in requests per 10 minutes to GET /projects'),
  project_invited_groups_api_limit: limit(60, 'Requests per minute to GET /projects/:id/invited_groups'),
  user_projects_api_limit: limit(300, 'Requests per minute to GET /users/:user_id/projects'),
  user_contributed_projects_api_limit: limit(
    100,
    'Requests per minute to GET /users/:user_id/contributed_projects',
  ),
  user_starred_projects_api_limit: limit(100, 'Requests per minute to GET /users/:user_id/starred_projects'),
  gitlab_shell_operation_limit: limit(600, 'Git over SSH operations per minute'),
  notes_create_limit_allowlist_raw: text('', 'User names exempt from the note creation limit.', {
    format: entriesUpTo(100),
  }),
  users_get_by_id_limit_allowlist_raw: text('', 'User names exempt from the user lookup limit.', {
    format: entriesUpTo(100),
  }),
  search_rate_limit_allowlist_raw: text('', 'User names exempt from the search limit.', {
    format: entriesUpTo(100),
  }),
}

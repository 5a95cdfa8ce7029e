import type { Scenarios } from '../stage.ts'

const closed = (body: object) => ({ 'the host is no import source': async () => ({ body }) })

export const hostImportScenarios: Scenarios = {
  'POST /import/github': closed({ personal_access_token: 'x', repo_id: 1, target_namespace: 'x' }),
  'POST /import/github/cancel': { 'of no project': async () => ({ body: { project_id: 999_999_999 } }) },
  'POST /import/bitbucket': closed({
    bitbucket_username: 'x',
    bitbucket_app_password: 'x',
    repo_path: 'x/x',
    target_namespace: 'x',
  }),
  'POST /import/bitbucket_server': closed({
    bitbucket_server_project: 'X',
    bitbucket_server_repo: 'x',
    bitbucket_server_url: 'https://host.example',
    bitbucket_server_username: 'x',
    personal_access_token: 'x',
  }),
}

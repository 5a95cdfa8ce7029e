import type { Scenarios } from '../stage.ts'

const plain = async (): Promise<{ body: object }> => ({
  body: { personal_access_token: 'x', repo_id: 1, target_namespace: 'x' },
})

export const hostImportScenarios: Scenarios = {
  'POST /import/github': { 'the host is no import source': plain },
  'POST /import/github/cancel': { 'of no project': async () => ({ body: { project_id: 999_999_999 } }) },
}

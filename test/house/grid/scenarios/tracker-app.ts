import type { Scenarios } from '../stage.ts'

export const trackerAppScenarios: Scenarios = {
  'POST /integrations/jira_connect/subscriptions': {
    'no token of the tracker': (stage) => ({ body: { jwt: 'a guess', namespace_path: stage.group['path'] } }),
  },
}

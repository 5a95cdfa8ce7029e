import { plain, type Scenarios } from '../stage.ts'

const path = '/projects/:id/pages'

export const siteScenarios: Scenarios = {
  [`GET ${path}`]: { '': plain },
  [`PATCH ${path}`]: { '': () => ({ body: { pages_https_only: true } }) },
  [`DELETE ${path}`]: { '': plain },
}

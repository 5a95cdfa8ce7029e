import { plain, type Scenarios } from '../stage.ts'

export const instanceScenarios: Scenarios = {
  'GET /version': { '': plain },
  'GET /metadata': { '': plain },
  'GET /application/plan_limits': { '': plain },
  'PUT /application/plan_limits': { '': () => ({ body: { plan_name: 'default' } }) },
  'GET /openapi.json': { '': plain },
}

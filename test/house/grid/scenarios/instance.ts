import { plain, type Scenarios } from '../stage.ts'

export const instanceScenarios: Scenarios = {
  'GET /version': { '': plain },
  'GET /metadata': { '': plain },
  'GET /openapi.json': { '': plain },
}

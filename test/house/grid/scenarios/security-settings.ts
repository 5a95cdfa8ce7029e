import { plain, type Scenarios } from '../stage.ts'

export const securitySettingScenarios: Scenarios = {
  'GET /projects/:id/security_settings': { '': plain },
  'PUT /projects/:id/security_settings': { '': () => ({ body: { secret_push_protection_enabled: false } }) },
}

import { plain, type Scenarios } from '../stage.ts'

export const settingScenarios: Scenarios = {
  'GET /application/settings': {
    '': plain,
    'admin_mode on, token without scope admin_mode': {
      prepare: async ({ world }) => {
        await world.service.services.settings.change({ admin_mode: true })
        return {}
      },
      after: ({ world }) => world.service.services.settings.change({ admin_mode: false }),
    },
  },
  'PUT /application/settings': {
    '': () => ({ body: { first_day_of_week: 1 } }),
    'no known attribute': () => ({ body: { nobody_knows_this: 1 } }),
  },
  'GET /application/settings/history': { '': plain },
  'POST /application/settings/rollback': { '': () => ({ body: { revision: 1, dry_run: true } }) },
}

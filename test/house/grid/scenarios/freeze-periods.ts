import { idOf } from '../actors.ts'
import { plain, type Prepare, type Scenarios } from '../stage.ts'

const path = '/projects/:id/freeze_periods'
const one = `${path}/:freeze_period_id`
const nightly = { freeze_start: '0 22 * * *', freeze_end: '0 6 * * *' }

const made: Prepare = async (stage) => ({
  path: { freeze_period_id: idOf(await stage.make(`${stage.projectPath}/freeze_periods`, nightly)) },
})

export const freezePeriodScenarios: Scenarios = {
  [`GET ${path}`]: { '': plain },
  [`GET ${one}`]: { '': made },
  [`POST ${path}`]: { '': async () => ({ body: nightly }) },
  [`PUT ${one}`]: {
    '': async (...call) => ({ ...(await made(...call)), body: { cron_timezone: 'Asia/Tokyo' } }),
  },
  [`DELETE ${one}`]: { '': { prepare: made, forEach: true } },
}

import { expectStatus, type Json } from '../../../world/world.ts'
import type { Prepare, Scenarios } from '../stage.ts'

const path = '/projects/:id/terraform/state/:name'

const lock = {
  ID: 'lock',
  Operation: 'plan',
  Info: '',
  Who: 'me@here',
  Version: '1.9.0',
  Created: '2030-01-01T00:00:00Z',
  Path: '',
}

const fresh =
  (body: Json): Prepare =>
  ({ world }) => ({ path: { name: world.unique('state') }, body })

const written: Prepare = async ({ world, projectPath }) => {
  const name = world.unique('state')
  const body = { version: 4, serial: 1 }
  expectStatus(await world.root.post(`${projectPath}/terraform/state/${name}`, body), 200)
  return { path: { name, serial: '1' } }
}

export const terraformScenarios: Scenarios = {
  [`GET ${path}`]: { '': written },
  [`POST ${path}`]: {
    '': fresh({ version: 4, serial: 1 }),
  },
  [`DELETE ${path}`]: { '': written },
  [`POST ${path}/lock`]: { '': fresh(lock) },
  [`DELETE ${path}/lock`]: { '': written },
  [`GET ${path}/versions/:serial`]: { '': written },
  [`DELETE ${path}/versions/:serial`]: { '': written },
}

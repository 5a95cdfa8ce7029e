import { expectStatus } from '../../../world/world.ts'
import { plain, type Prepare, type Scenarios } from '../stage.ts'

const file = 'packages/generic/tool/1.0/tool.bin'
const names = { package_name: 'tool', package_version: '1.0', file_name: 'tool.bin' }

const published: Prepare = async ({ world, projectPath }) => {
  const made = expectStatus(
    await world.root.put(`${projectPath}/${file}?select=package_file`, 'content'),
    201,
  )
  return { path: { ...names, package_id: made['package_id'], package_file_id: made['id'] } }
}

const path = '/projects/:id/packages'

export const packageScenarios: Scenarios = {
  [`GET ${path}`]: { '': plain },
  [`GET ${path}/:package_id`]: { '': published },
  [`DELETE ${path}/:package_id`]: { '': published },
  [`GET ${path}/:package_id/package_files`]: { '': published },
  [`DELETE ${path}/:package_id/package_files/:package_file_id`]: { '': published },
  [`GET ${path}/generic/:package_name/:package_version/:file_name`]: { '': published },
  [`PUT ${path}/generic/:package_name/:package_version/:file_name`]: {
    '': () => ({ path: names, body: 'content' }),
  },
  'GET /groups/:id/packages': { '': plain },
}

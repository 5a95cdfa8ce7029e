import { plain, type Prepare, type Scenarios } from '../stage.ts'

const names = {
  dockerfiles: 'Node',
  gitignores: 'Node',
  gitlab_ci_ymls: 'Nodejs',
  licenses: 'mit',
} as const

const ofType: Prepare = () => ({ path: { type: 'gitignores' } })
const named: Prepare = () => ({ path: { type: 'gitignores', name: 'Node' } })

export const templateScenarios: Scenarios = {
  ...Object.fromEntries(
    Object.entries(names).flatMap(([type, name]) => [
      [`GET /templates/${type}`, { '': plain }],
      [`GET /templates/${type}/:name`, { '': () => ({ path: { name } }) }],
    ]),
  ),
  'GET /projects/:id/templates/:type': { '': ofType },
  'GET /projects/:id/templates/:type/:name': { '': named },
}

import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'
import { archived } from './projects.ts'

/** Where variables live: in a project, in a group, or in the whole instance. */
type PlaceOf = (stage: Stage) => string

const ofProject: PlaceOf = ({ projectPath }) => `${projectPath}/variables`
const ofGroup: PlaceOf = ({ groupPath }) => `${groupPath}/variables`
const ofInstance: PlaceOf = () => '/admin/ci/variables'

/** A key that nothing has yet; keys have no hyphens. */
const newKey = (stage: Stage) => stage.unique('KEY').replaceAll('-', '_')

async function variable(stage: Stage, place: PlaceOf): Promise<{ path: { key: string } }> {
  const key = newKey(stage)
  await stage.make(place(stage), { key, value: 'x' })
  return { path: { key } }
}

const create: Prepare = (stage) => ({ body: { key: newKey(stage), value: 'x' } })

function scenarios(at: string, place: PlaceOf): Scenarios {
  const kept: Prepare = (stage) => stage.once(`variable of ${at}`, () => variable(stage, place))
  return {
    [`GET ${at}`]: { '': plain },
    [`GET ${at}/:key`]: {
      '': kept,
      'two scopes share the key and no filter': (stage) =>
        stage.once('two variables', () => twice(stage, place)),
    },
    [`POST ${at}`]: {
      '': create,
      'archived project': async (stage, caller, row) => ({
        ...(await create(stage, caller, row)),
        stage: await archived(stage),
      }),
    },
    [`PUT ${at}/:key`]: {
      '': async (stage, caller, row) => ({ ...(await kept(stage, caller, row)), body: { value: 'y' } }),
    },
    [`DELETE ${at}/:key`]: { '': (stage) => variable(stage, place) },
  }
}

async function twice(stage: Stage, place: PlaceOf): Promise<{ path: { key: string } }> {
  const made = await variable(stage, place)
  await stage.make(place(stage), { key: made.path.key, value: 'x', environment_scope: 'prod' })
  return made
}

export const variableScenarios: Scenarios = {
  ...scenarios('/projects/:id/variables', ofProject),
  ...scenarios('/groups/:id/variables', ofGroup),
  ...scenarios('/admin/ci/variables', ofInstance),
}

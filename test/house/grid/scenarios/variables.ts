import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'
import { archived } from './projects.ts'

/** A further variable; keys have no hyphens. */
async function variable(stage: Stage): Promise<string> {
  const key = stage.unique('KEY').replaceAll('-', '_')
  await stage.make(`${stage.projectPath}/variables`, { key, value: 'x' })
  return key
}

const create: Prepare = (stage) => ({ body: { key: stage.unique('NEW').replaceAll('-', '_'), value: 'x' } })

export const variableScenarios: Scenarios = {
  'GET /projects/:id/variables': { '': plain },
  'GET /projects/:id/variables/:key': {
    '': async (stage) => ({ path: { key: await stage.once('variable', () => variable(stage)) } }),
    'two scopes share the key and no filter': async (stage) => {
      const key = await stage.once('two variables', async () => {
        const name = await variable(stage)
        await stage.make(`${stage.projectPath}/variables`, {
          key: name,
          value: 'x',
          environment_scope: 'prod',
        })
        return name
      })
      return { path: { key } }
    },
  },
  'POST /projects/:id/variables': {
    '': create,
    'archived project': async (stage, caller, row) => ({
      ...(await create(stage, caller, row)),
      stage: await archived(stage),
    }),
  },
  'PUT /projects/:id/variables/:key': {
    '': async (stage) => ({
      path: { key: await stage.once('variable', () => variable(stage)) },
      body: { value: 'y' },
    }),
  },
  'DELETE /projects/:id/variables/:key': {
    '': async (stage) => ({ path: { key: await variable(stage) } }),
  },
}

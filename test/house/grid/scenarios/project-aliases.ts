import { plain, type Scenarios, type Stage } from '../stage.ts'
import { idOf } from '../actors.ts'

async function alias(stage: Stage): Promise<{ path: { name: string } }> {
  const name = stage.unique('alias')
  await stage.make('/project_aliases', { name, project_id: idOf(stage.project) })
  return { path: { name } }
}

export const projectAliasScenarios: Scenarios = {
  'GET /project_aliases': { '': plain },
  'GET /project_aliases/:name': { '': (stage) => stage.once('alias', () => alias(stage)) },
  'POST /project_aliases': {
    '': (stage) => ({ body: { name: stage.unique('alias'), project_id: idOf(stage.project) } }),
    'name taken': async (stage) => ({
      body: { name: (await alias(stage)).path.name, project_id: idOf(stage.project) },
    }),
  },
  'DELETE /project_aliases/:name': {
    '': alias,
    'unknown alias': () => ({ path: { name: 'no-such-alias' } }),
  },
}

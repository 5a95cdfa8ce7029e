import type { Request, Scenarios, Stage } from '../stage.ts'

const ofUser = (stage: Stage): string => `/users/${stage.cast.stranger.id}`
const places = {
  '/users/:id': ofUser,
  '/groups/:id': (stage: Stage) => stage.groupPath,
  '/projects/:id': (stage: Stage) => stage.projectPath,
} as const

function scenariosOf(path: keyof typeof places): Scenarios {
  const about = path === '/users/:id'
  const id = (stage: Stage) => (about ? { id: stage.cast.stranger.id } : {})
  const there = async (stage: Stage): Promise<Request> => {
    const key = stage.unique('key')
    await stage.world.root.put(`${places[path](stage)}/custom_attributes/${key}`, { value: 'v' })
    return { path: { ...id(stage), key } }
  }
  return {
    [`GET ${path}/custom_attributes`]: { '': (stage) => ({ path: id(stage) }) },
    [`GET ${path}/custom_attributes/:key`]: { '': there },
    [`PUT ${path}/custom_attributes/:key`]: {
      '': async (stage) => ({ ...(await there(stage)), body: { value: 'w' } }),
    },
    [`DELETE ${path}/custom_attributes/:key`]: { '': there },
  }
}

export const customAttributeScenarios: Scenarios = {
  ...scenariosOf('/users/:id'),
  ...scenariosOf('/groups/:id'),
  ...scenariosOf('/projects/:id'),
}

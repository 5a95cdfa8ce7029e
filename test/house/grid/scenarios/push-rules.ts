import type { Prepare, Scenarios, Stage } from '../stage.ts'

type Where = (stage: Stage) => string

/** One rule a place: it is there, or is not, before each call. */
function having(where: Where): Prepare {
  return async (stage) => {
    await stage.world.root.post(`${where(stage)}/push_rule`, {})
    return { body: { deny_delete_tag: true } }
  }
}

function lacking(where: Where): Prepare {
  return async (stage) => {
    await stage.world.root.delete(`${where(stage)}/push_rule`)
    return { body: {} }
  }
}

const read = (where: Where): Prepare => {
  const prepare = having(where)
  return async (stage, caller, row) => {
    await prepare(stage, caller, row)
    return {}
  }
}

function of(path: string, where: Where): Scenarios {
  return {
    [`GET ${path}`]: { '': read(where) },
    [`POST ${path}`]: { '': { prepare: lacking(where), forEach: true } },
    [`PUT ${path}`]: { '': having(where) },
    [`DELETE ${path}`]: { '': { prepare: having(where), forEach: true } },
  }
}

export const pushRuleScenarios: Scenarios = {
  ...of('/projects/:id/push_rule', (stage) => stage.projectPath),
  ...of('/groups/:id/push_rule', (stage) => stage.groupPath),
}

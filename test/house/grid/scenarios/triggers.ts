import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf, type Caller } from '../actors.ts'
import { ciStage } from '../ci.ts'
import { plain, type Prepare, type Scenario, type Scenarios, type Stage } from '../stage.ts'

function trigger(stage: Stage): Promise<Json> {
  return stage.make(`${stage.projectPath}/triggers`, { description: 'x' })
}

const onTrigger = async (stage: Stage) => ({ path: { trigger_id: idOf(await trigger(stage)) } })
const change = { body: { description: 'y' } }

/** One that the caller made, where they may. */
const own: Scenario = {
  forEach: true,
  async prepare(stage, { userId }: Caller) {
    const { members, admin } = stage.cast
    const maker =
      [members.maintainer, members.owner, admin].find(({ id }) => id === userId) ?? stage.world.root
    const made = await maker.post(`${stage.projectPath}/triggers`, { description: 'x' })
    return { path: { trigger_id: idOf(expectStatus(made, 201)) }, ...change }
  },
}

/** Fires a token of the administrator `root`, or one that nobody has. */
function fire(known: boolean, path: { ref?: string } = {}): Prepare {
  return async (stage) => {
    const ci = await ciStage(stage)
    const { token } = await ci.once('trigger', () => trigger(ci))
    const body = { token: known ? (token as string) : 'glptt-nobody-has-this-token', ref: 'free' }
    return { body, path, stage: ci }
  }
}

const valid = 'valid trigger token as parameter, unprotected ref'

export const triggerScenarios: Scenarios = {
  'GET /projects/:id/triggers': { '': plain },
  'GET /projects/:id/triggers/:trigger_id': {
    '': (stage) => stage.once('read trigger', () => onTrigger(stage)),
  },
  'POST /projects/:id/triggers': { '': () => ({ body: { description: 'x' } }) },
  'PUT /projects/:id/triggers/:trigger_id': {
    'own trigger token': own,
    'trigger token of another user': async (stage) => ({ ...(await onTrigger(stage)), ...change }),
  },
  'DELETE /projects/:id/triggers/:trigger_id': { '': onTrigger },
  'POST /projects/:id/trigger/pipeline': {
    [`${valid}; the actor column is an extra access token`]: fire(true),
    'unknown trigger token as parameter': fire(false),
  },
  'POST /projects/:id/ref/:ref/trigger/pipeline': { [valid]: fire(true, { ref: 'free' }) },
}

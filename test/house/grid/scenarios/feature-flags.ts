import type { Json } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'

const ofFlags = '/projects/:id/feature_flags'
const ofLists = '/projects/:id/feature_flags_user_lists'
const unleash = '/feature_flags/unleash/:project_id'

const flag: Prepare = async (stage) => {
  const name = stage.unique('flag')
  await stage.make(`${stage.projectPath}/feature_flags`, { name })
  return { path: { feature_flag_name: name } }
}
const list: Prepare = async (stage) => {
  const fields = { name: stage.unique('list'), user_xids: 'one' }
  const made = await stage.make(`${stage.projectPath}/feature_flags_user_lists`, fields)
  return { path: { iid: made['iid'] as number } }
}
const changed =
  (prepare: Prepare, body: Json): Prepare =>
  async (...call) => ({ ...(await prepare(...call)), body })

const clients = (stage: Stage): Promise<Stage> =>
  stage.variant('programs', async (made) => made.make(`${made.projectPath}/feature_flags_client`))
const client: Prepare = async (stage) => ({ stage: await clients(stage) })
/** By a program, whatever token of users comes with it. */
const asking =
  (token?: string): Prepare =>
  async (stage) => {
    const { world, projectPath, project } = await clients(stage)
    const { body } = await world.root.get(`${projectPath}/feature_flags_client`)
    const shown = token ?? ((body as Json)['instance_id'] as string)
    return {
      path: { project_id: idOf(project) },
      headers: { 'unleash-instanceid': shown, 'unleash-appname': 'production' },
    }
  }
const known = { "token of the project's programs": asking() }

export const featureFlagScenarios: Scenarios = {
  [`GET ${ofFlags}`]: { '': plain },
  [`GET ${ofFlags}/:feature_flag_name`]: { '': flag },
  [`POST ${ofFlags}`]: { '': (stage) => ({ body: { name: stage.unique('flag') } }) },
  [`PUT ${ofFlags}/:feature_flag_name`]: { '': changed(flag, { active: false }) },
  [`DELETE ${ofFlags}/:feature_flag_name`]: { '': { prepare: flag, forEach: true } },
  [`GET ${ofLists}`]: { '': plain },
  [`GET ${ofLists}/:iid`]: { '': list },
  [`POST ${ofLists}`]: { '': (stage) => ({ body: { name: stage.unique('list'), user_xids: 'one' } }) },
  [`PUT ${ofLists}/:iid`]: { '': changed(list, { user_xids: 'two' }) },
  [`DELETE ${ofLists}/:iid`]: { '': { prepare: list, forEach: true } },
  'GET /projects/:id/feature_flags_client': { '': client },
  'POST /projects/:id/feature_flags_client': { '': plain },
  [`GET ${unleash}/features`]: known,
  [`GET ${unleash}/client/features`]: {
    ...known,
    'a token that nobody has': asking('glffct-nobody-has-this-tok'),
  },
  [`POST ${unleash}/client/register`]: known,
  [`POST ${unleash}/client/metrics`]: known,
}

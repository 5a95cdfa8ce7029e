import { expectStatus, type Json } from '../../../world/world.ts'
import { pushFiles } from '../../../world/push.ts'
import { idOf } from '../actors.ts'
import { pipeline } from '../ci.ts'
import { plain, type Prepare, type Request, type Scenario, type Scenarios, type Stage } from '../stage.ts'

const entries = { deploy_access_levels: [{ access_level: 40 }] }

const inProject: Prepare = async (stage) => {
  const name = stage.unique('environment')
  await stage.make(`${stage.projectPath}/protected_environments`, { name, ...entries })
  return { path: { name } }
}
const changed: Prepare = async (...call) => ({
  ...(await inProject(...call)),
  body: { required_approval_count: 1 },
})

/** Where nothing is deployed: rules of a group are for tiers, of which there are few. */
async function tiers(stage: Stage): Promise<Stage> {
  const own = await stage.variant('protected tiers', async () => undefined)
  await own.world.root.delete(`${own.groupPath}/protected_environments/production`)
  return own
}
const inGroup =
  (request: Request = {}): Prepare =>
  async (stage) => {
    const own = await tiers(stage)
    await own.make(`${own.groupPath}/protected_environments`, { name: 'production', ...entries })
    return { ...request, path: { name: 'production' }, stage: own }
  }
const again = (prepare: Prepare): Scenario => ({ prepare, forEach: true, about: 'group' })

const configuration = 'deploy:\n  script: x\n  environment: production\n'

/** A deployment that waits for more approvals than the callers can give. */
const blocked: Prepare = async (given) => {
  const stage = await given.variant('approvals', async (made) => {
    await pushFiles(given.world, made.project, { '.gitlab-ci.yml': configuration }, ['main'])
    await made.make(`${made.projectPath}/protected_environments`, {
      name: 'production',
      ...entries,
      approval_rules: [{ access_level: 30, required_approvals: 5 }],
    })
    await pipeline(made, 'main')
  })
  const list = await given.world.root.get(`${stage.projectPath}/deployments?status=blocked`)
  const [waiting] = expectStatus(list, 200) as Json[]
  return { stage, path: { deployment_id: idOf(waiting!) }, body: { status: 'approved' } }
}

const ofProject = '/projects/:id/protected_environments'
const ofGroup = '/groups/:id/protected_environments'

export const protectedEnvironmentScenarios: Scenarios = {
  [`GET ${ofProject}`]: { '': plain },
  [`GET ${ofProject}/:name`]: { '': inProject },
  [`GET ${ofProject}/:name/explain`]: { '': () => ({ path: { name: 'production' }, query: 'user_id=1' }) },
  [`POST ${ofProject}`]: { '': (stage) => ({ body: { name: stage.unique('environment'), ...entries } }) },
  [`PUT ${ofProject}/:name`]: { '': changed },
  [`DELETE ${ofProject}/:name`]: { '': { prepare: inProject, forEach: true } },
  [`GET ${ofGroup}`]: { '': plain },
  [`GET ${ofGroup}/:name`]: { '': again(inGroup()) },
  [`POST ${ofGroup}`]: {
    '': again(async (stage) => ({ stage: await tiers(stage), body: { name: 'production', ...entries } })),
  },
  [`PUT ${ofGroup}/:name`]: { '': again(inGroup({ body: { required_approval_count: 1 } })) },
  [`DELETE ${ofGroup}/:name`]: { '': again(inGroup()) },
  'POST /projects/:id/deployments/:deployment_id/approval': {
    'a rule asks Developers': { prepare: blocked, lasts: true },
  },
}

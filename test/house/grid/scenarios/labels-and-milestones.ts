import { idOf } from '../actors.ts'
import { plain, type Prepare, type Scenario, type Scenarios, type Stage } from '../stage.ts'

type Where = 'projectPath' | 'groupPath'

const newLabel = (stage: Stage) => ({ name: stage.unique('label'), color: '#123456' })
const newMilestone = (stage: Stage) => ({ title: stage.unique('milestone') })

async function label(stage: Stage, where: Where) {
  return stage.make(`${stage[where]}/labels`, newLabel(stage))
}

async function milestone(stage: Stage, where: Where) {
  return stage.make(`${stage[where]}/milestones`, newMilestone(stage))
}

const ofLabel =
  (where: Where, body?: unknown): Prepare =>
  async (stage) => ({ path: { label_id: idOf(await label(stage, where)) }, body })

const ofMilestone =
  (where: Where, body?: unknown): Prepare =>
  async (stage) => ({ path: { milestone_id: idOf(await milestone(stage, where)) }, body })

/** Each subscribes himself, so each gets a label of his own to say it of. */
const subscribing = (where: Where): Scenario => ({ forEach: true, prepare: ofLabel(where) })
const unsubscribing = (where: Where): Scenario => ({
  forEach: true,
  async prepare(stage, { client }) {
    const made = idOf(await label(stage, where))
    await client.post(`${stage[where]}/labels/${made}/subscribe`)
    return { path: { label_id: made } }
  },
})

const labelsOf = (of: 'projects' | 'groups', where: Where): Scenarios => ({
  [`GET /${of}/:id/labels`]: { '': plain },
  [`GET /${of}/:id/labels/:label_id`]: { '': ofLabel(where) },
  [`POST /${of}/:id/labels`]: { '': (stage) => ({ body: newLabel(stage) }) },
  [`PUT /${of}/:id/labels/:label_id`]: { '': ofLabel(where, { color: 'navy' }) },
  [`PUT /${of}/:id/labels`]: {
    '': async (stage) => ({ body: { name: (await label(stage, where))['name'] as string, color: 'navy' } }),
  },
  [`DELETE /${of}/:id/labels/:label_id`]: { '': ofLabel(where) },
  [`DELETE /${of}/:id/labels`]: {
    '': async (stage) => ({ query: `label_id=${idOf(await label(stage, where))}` }),
  },
  [`POST /${of}/:id/labels/:label_id/subscribe`]: { '': subscribing(where) },
  [`POST /${of}/:id/labels/:label_id/unsubscribe`]: { '': unsubscribing(where) },
})

const milestonesOf = (of: 'projects' | 'groups', where: Where): Scenarios => ({
  [`GET /${of}/:id/milestones`]: { '': plain },
  [`GET /${of}/:id/milestones/:milestone_id`]: { '': ofMilestone(where) },
  [`POST /${of}/:id/milestones`]: { '': (stage) => ({ body: newMilestone(stage) }) },
  [`PUT /${of}/:id/milestones/:milestone_id`]: { '': ofMilestone(where, { state_event: 'close' }) },
  [`DELETE /${of}/:id/milestones/:milestone_id`]: { '': ofMilestone(where) },
  [`GET /${of}/:id/milestones/:milestone_id/issues`]: { '': ofMilestone(where) },
  [`GET /${of}/:id/milestones/:milestone_id/burndown_events`]: { '': ofMilestone(where) },
  [`GET /${of}/:id/milestones/:milestone_id/merge_requests`]: { '': ofMilestone(where) },
})

export const labelScenarios: Scenarios = {
  ...labelsOf('projects', 'projectPath'),
  ...labelsOf('groups', 'groupPath'),
  'PUT /projects/:id/labels/:label_id/promote': {
    'members of the group': { about: 'group', prepare: ofLabel('projectPath') },
  },
}

export const milestoneScenarios: Scenarios = {
  ...milestonesOf('projects', 'projectPath'),
  ...milestonesOf('groups', 'groupPath'),
  'POST /projects/:id/milestones/:milestone_id/promote': {
    'members of the group': { about: 'group', prepare: ofMilestone('projectPath') },
  },
}

import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf, type Caller } from '../actors.ts'
import { ciStage, prepareCi } from '../ci.ts'
import type { Prepare, Scenario, Scenarios, Stage } from '../stage.ts'

const fields = { description: 'x', ref: 'free', cron: '0 1 * * *' }
const path = '/projects/:id/pipeline_schedules'
const one = `${path}/:pipeline_schedule_id`

/** Where schedules come and go: a project has only a few at a time. */
async function emptyStage(stage: Stage): Promise<Stage> {
  const ci = await stage.variant('schedules', prepareCi)
  const list = `${ci.projectPath}/pipeline_schedules`
  for (const left of (await ci.world.root.get(list)).body as Json[]) {
    await ci.world.root.request('DELETE', `${list}/${idOf(left)}`)
  }
  return ci
}

/** One of the administrator `root`, or one that the caller made, where they may. */
async function schedule(ci: Stage, caller?: Caller): Promise<{ stage: Stage; made: Json }> {
  const { members, admin } = ci.cast
  const makers = [members.developer, members.maintainer, members.owner, admin]
  const maker = makers.find(({ id }) => id === caller?.userId) ?? ci.world.root
  const made = expectStatus(await maker.post(`${ci.projectPath}/pipeline_schedules`, fields), 201)
  return { stage: ci, made }
}

function onSchedule(
  by: 'root' | 'caller',
  request: Json = {},
  prepare?: (stage: Stage, made: Json) => Promise<unknown>,
): Scenario {
  return {
    forEach: true,
    async prepare(given, caller) {
      const { stage, made } = await schedule(await emptyStage(given), by === 'caller' ? caller : undefined)
      await prepare?.(stage, made)
      const { path: more = {}, ...rest } = request as { path?: Json }
      return { stage, path: { pipeline_schedule_id: idOf(made), ...more }, ...rest }
    },
  }
}

const reading: Prepare = async (given) => {
  const { stage, made } = await given.once('read schedule', async () => schedule(await ciStage(given)))
  return { stage, path: { pipeline_schedule_id: idOf(made) } }
}
const variable = { key: 'A', value: '1' }
const withVariable = (stage: Stage, made: Json): Promise<unknown> =>
  // By the administrator, who may whosever it is.
  stage.make(`${stage.projectPath}/pipeline_schedules/${idOf(made)}/variables`, variable)

export const pipelineScheduleScenarios: Scenarios = {
  [`GET ${path}`]: { 'public_jobs on': async (given) => ({ stage: await ciStage(given) }) },
  [`GET ${one}`]: { 'public_jobs on': reading },
  [`GET ${one}/pipelines`]: { 'public_jobs on': reading },
  [`POST ${path}`]: {
    'unprotected ref': {
      forEach: true,
      prepare: async (given) => ({ stage: await emptyStage(given), body: fields }),
    },
  },
  [`PUT ${one}`]: {
    'own schedule': onSchedule('caller', { body: { description: 'y' } }),
    'schedule of another user': onSchedule('root', { body: { description: 'y' } }),
  },
  [`DELETE ${one}`]: {
    'own schedule': onSchedule('caller'),
    'schedule of another user': onSchedule('root'),
  },
  [`POST ${one}/take_ownership`]: { '': onSchedule('root') },
  [`POST ${one}/play`]: { 'unprotected ref': onSchedule('root') },
  [`POST ${one}/variables`]: { 'own schedule': onSchedule('caller', { body: variable }) },
  [`PUT ${one}/variables/:key`]: {
    'own schedule': onSchedule('caller', { body: { value: '2' }, path: { key: 'A' } }, withVariable),
  },
  [`DELETE ${one}/variables/:key`]: {
    'own schedule': onSchedule('caller', { path: { key: 'A' } }, withVariable),
  },
}

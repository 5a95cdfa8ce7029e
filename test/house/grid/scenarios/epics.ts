import { idOf } from '../actors.ts'
import type { Json } from '../../../world/world.ts'
import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'

const epic = (stage: Stage, fields: Json = {}): Promise<Json> =>
  stage.make(`${stage.groupPath}/epics`, { title: stage.unique('epic'), ...fields })

const issue = (stage: Stage): Promise<Json> =>
  stage.make(`${stage.projectPath}/issues`, { title: stage.unique('issue') })

const iidOf = ({ iid }: Json): number => iid as number

const ofEpic =
  (body?: unknown): Prepare =>
  async (stage) => ({ path: { epic_iid: iidOf(await epic(stage)) }, body })

const withIssues =
  (number: number): Prepare =>
  async (stage) => {
    const holder = await epic(stage)
    const ids: number[] = []
    for (let made = 0; made < number; made += 1) {
      const { id } = await issue(stage)
      await stage.make(`${stage.groupPath}/epics/${iidOf(holder)}/issues/${id as number}`)
      ids.push(id as number)
    }
    return { path: { epic_iid: iidOf(holder), issue_id: ids[0]! }, body: { move_after_id: ids[1] } }
  }

const withChildren: Prepare = async (stage) => {
  const above = await epic(stage)
  const [child, other] = [
    await epic(stage, { parent_id: idOf(above) }),
    await epic(stage, { parent_id: idOf(above) }),
  ]
  return {
    path: { epic_iid: iidOf(above), child_epic_id: idOf(child) },
    body: { move_after_id: idOf(other) },
  }
}

const linkedEpics: Prepare = async (stage) => {
  const [one, other] = [await epic(stage), await epic(stage)]
  const link = await stage.make(`${stage.groupPath}/epics/${iidOf(one)}/related_epics`, {
    target_group_id: idOf(stage.group),
    target_epic_iid: iidOf(other),
  })
  return { path: { epic_iid: iidOf(one), related_epic_link_id: idOf(link) } }
}

const at = '/groups/:id/epics/:epic_iid'

export const epicScenarios: Scenarios = {
  'GET /groups/:id/epics': { '': plain },
  [`GET ${at}`]: { 'not confidential': ofEpic() },
  'POST /groups/:id/epics': { '': (stage) => ({ body: { title: stage.unique('epic') } }) },
  [`PUT ${at}`]: { 'not confidential': ofEpic({ title: 'changed' }) },
  [`DELETE ${at}`]: { '': ofEpic() },
  [`GET ${at}/issues`]: { '': ofEpic() },
  [`POST ${at}/issues/:issue_id`]: {
    '': async (stage) => ({
      path: { epic_iid: iidOf(await epic(stage)), issue_id: idOf(await issue(stage)) },
    }),
  },
  [`PUT ${at}/issues/:issue_id`]: { '': withIssues(2) },
  [`DELETE ${at}/issues/:issue_id`]: { '': withIssues(1) },
  [`GET ${at}/epics`]: { '': ofEpic() },
  [`POST ${at}/epics`]: { '': ofEpic({ title: 'below' }) },
  [`POST ${at}/epics/:child_epic_id`]: {
    '': async (stage) => ({
      path: { epic_iid: iidOf(await epic(stage)), child_epic_id: idOf(await epic(stage)) },
    }),
  },
  [`PUT ${at}/epics/:child_epic_id`]: { '': withChildren },
  [`DELETE ${at}/epics/:child_epic_id`]: { '': withChildren },
  [`GET ${at}/related_epics`]: { '': ofEpic() },
  [`POST ${at}/related_epics`]: {
    '': async (stage) => ({
      path: { epic_iid: iidOf(await epic(stage)) },
      body: { target_group_id: idOf(stage.group), target_epic_iid: iidOf(await epic(stage)) },
    }),
  },
  [`DELETE ${at}/related_epics/:related_epic_link_id`]: { '': linkedEpics },
}

const changed = {
  label: { labels: 'recorded' },
  state: { state_event: 'close' },
  milestone: {},
  weight: { weight: 3 },
} as const

async function recordedIssue(stage: Stage, kind: keyof typeof changed): Promise<number> {
  const made = await issue(stage)
  const body =
    kind === 'milestone'
      ? {
          milestone_id: idOf(
            await stage.make(`${stage.projectPath}/milestones`, { title: stage.unique('m') }),
          ),
        }
      : changed[kind]
  await stage.world.root.put(`${stage.projectPath}/issues/${iidOf(made)}`, body)
  return iidOf(made)
}

const issueEvents = Object.fromEntries(
  (Object.keys(changed) as (keyof typeof changed)[]).flatMap((kind) => {
    const path = `/projects/:id/issues/:issue_iid/resource_${kind}_events`
    return [
      [
        `GET ${path}`,
        { '': async (stage: Stage) => ({ path: { issue_iid: await recordedIssue(stage, kind) } }) },
      ],
      [
        `GET ${path}/:event_id`,
        {
          '': async (stage: Stage) => {
            const issue_iid = await recordedIssue(stage, kind)
            const { body } = await stage.world.root.get(
              `${stage.projectPath}/issues/${issue_iid}/resource_${kind}_events`,
            )
            return { path: { issue_iid, event_id: idOf((body as Json[])[0]!) } }
          },
        },
      ],
    ]
  }),
) as Scenarios

const epicEvents = Object.fromEntries(
  (['label', 'state'] as const).flatMap((kind) => {
    const path = `/groups/:id/epics/:epic_id/resource_${kind}_events`
    const recorded = async (stage: Stage): Promise<number> => {
      const made = await epic(stage)
      await stage.world.root.put(`${stage.groupPath}/epics/${iidOf(made)}`, changed[kind])
      return idOf(made)
    }
    return [
      [`GET ${path}`, { '': async (stage: Stage) => ({ path: { epic_id: await recorded(stage) } }) }],
      [
        `GET ${path}/:event_id`,
        {
          '': async (stage: Stage) => {
            const epic_id = await recorded(stage)
            const { body } = await stage.world.root.get(
              `${stage.groupPath}/epics/${epic_id}/resource_${kind}_events`,
            )
            return { path: { epic_id, event_id: idOf((body as Json[])[0]!) } }
          },
        },
      ],
    ]
  }),
) as Scenarios

export const resourceEventScenarios: Scenarios = { ...issueEvents, ...epicEvents }

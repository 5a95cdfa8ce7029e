import { expectStatus } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { plain, type Scenario, type Scenarios, type Stage } from '../stage.ts'

/** The group ends with the call, or waits for its end. */
const ending: Scenario = { ownStage: true, prepare: plain }

async function readable(stage: Stage): Promise<number> {
  return idOf(await stage.world.group({ visibility: 'public' }))
}

export const groupScenarios: Scenarios = {
  'POST /groups/:id/export': { '': plain },
  'GET /groups/:id/export/download': {
    'no archive yet': async (stage) => ({
      stage: await stage.variant('never exported', async () => undefined),
    }),
  },
  'GET /groups/:id/import': { '': plain },
  'POST /groups/import': { 'no archive': plain },
  'GET /groups': { '': plain },
  'GET /groups/:id': { '': plain },
  'GET /groups/:id/projects': { '': plain },
  'GET /groups/:id/subgroups': { '': plain },
  'GET /groups/:id/descendant_groups': { '': plain },
  'GET /groups/:id/invited_groups': { '': plain },
  'GET /groups/:id/groups/shared': { '': plain },
  'GET /groups/:id/projects/shared': { '': plain },
  'POST /groups': {
    'top level, can_create_group': (stage) => {
      const path = stage.unique('made')
      return { body: { name: path, path } }
    },
    'parent_id, subgroup_creation_level maintainer': {
      about: 'group',
      prepare: (stage) => {
        const path = stage.unique('made')
        return { body: { name: path, path, parent_id: idOf(stage.group) } }
      },
    },
  },
  'PUT /groups/:id': { '': () => ({ body: { description: 'x' } }) },
  'DELETE /groups/:id': { '': ending },
  'POST /groups/:id/restore': {
    'marked for deletion': {
      ownStage: true,
      async prepare(stage) {
        expectStatus(await stage.world.root.delete(stage.groupPath), 202)
        return {}
      },
    },
  },
  'POST /groups/:id/archive': { '': ending },
  'POST /groups/:id/unarchive': {
    'archived group': {
      ownStage: true,
      async prepare(stage) {
        expectStatus(await stage.world.root.post(`${stage.groupPath}/archive`), 200)
        return {}
      },
    },
  },
  'POST /groups/:id/transfer': {
    'caller may create subgroups in the target': {
      ownStage: true,
      async prepare(stage) {
        const target = await stage.world.group()
        await stage.cast.letIn(`/groups/${idOf(target)}`)
        return { body: { group_id: idOf(target) } }
      },
    },
  },
  'GET /groups/:id/transfer_locations': { '': plain },
  'POST /groups/:id/projects/:project_id': {
    'own project of the caller elsewhere': async (stage) => {
      const project = await stage.world.project()
      await stage.cast.letIn(`/projects/${idOf(project)}`)
      return { path: { project_id: idOf(project) } }
    },
  },
  'POST /groups/:id/share': {
    'group_access 30, readable group': async (stage) => ({
      body: { group_id: await readable(stage), group_access: 30 },
    }),
  },
  'DELETE /groups/:id/share/:group_id': {
    'link exists': async (stage) => {
      const group_id = await readable(stage)
      await stage.make(`${stage.groupPath}/share`, { group_id, group_access: 30 })
      return { path: { group_id } }
    },
  },
}

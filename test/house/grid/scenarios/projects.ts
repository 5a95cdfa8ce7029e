import { sql } from 'kysely'
import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { plain, type Prepare, type Scenario, type Scenarios, type Stage } from '../stage.ts'

/** A stage whose project is archived. */
export function archived(stage: Stage): Promise<Stage> {
  return stage.variant('archived', (own) => own.make(`${own.projectPath}/archive`))
}

/** A stage whose project was archived, or not, just now. */
async function withArchived(stage: Stage, act: 'archive' | 'unarchive'): Promise<{ stage: Stage }> {
  const own = await stage.variant('archived and back', async () => undefined)
  // It may be so already.
  await own.world.root.post(`${own.projectPath}/${act}`)
  return { stage: own }
}

const newProject: Prepare = (stage) => ({ body: { name: stage.unique('made') } })

/** The project ends with the call, or waits for its end. */
const ending: Scenario = { ownStage: true, prepare: plain }

async function target(stage: Stage): Promise<number> {
  const group = await stage.world.group()
  await stage.cast.letIn(`/groups/${idOf(group)}`)
  return idOf(group)
}

/** A group that everybody can read. */
async function readable(stage: Stage): Promise<number> {
  return idOf(await stage.world.group({ visibility: 'public' }))
}

function publicProject(stage: Stage): Promise<Json> {
  return stage.once('public project', () => stage.world.project({ visibility: 'public' }))
}

export const projectScenarios: Scenarios = {
  'GET /projects': { '': plain },
  'GET /projects/:id': { '': plain },
  'GET /projects/:id/invited_groups': { '': plain },
  'GET /projects/:id/groups': { '': plain },
  'GET /projects/:id/share_locations': { '': plain },
  'POST /projects': {
    'own namespace': newProject,
    'namespace_id of a group, default creation level': {
      about: 'group',
      prepare: (stage) => ({ body: { name: stage.unique('made'), namespace_id: idOf(stage.group) } }),
    },
  },
  'PUT /projects/:id': {
    'description only': () => ({ body: { description: 'x' } }),
    async visibility(stage) {
      const own = await stage.variant('in a public group', async () => undefined, {
        group: { visibility: 'public' },
      })
      expectStatus(await stage.world.root.put(own.projectPath, { visibility: 'private' }), 200)
      return { body: { visibility: 'internal' }, stage: own }
    },
    'name or path taken': async (stage) => {
      const other = await stage.once('other project', () =>
        stage.world.project({ namespace_id: idOf(stage.group) }),
      )
      return { body: { path: other['path'] } }
    },
  },
  'DELETE /projects/:id': {
    '': ending,
    'marked for deletion, permanently_remove': {
      ownStage: true,
      async prepare(stage) {
        expectStatus(await stage.world.root.delete(stage.projectPath), 202)
        return { body: { permanently_remove: true, full_path: stage.project['path_with_namespace'] } }
      },
    },
  },
  'GET /projects/:id/starrers': { '': plain },
  'GET /projects/:id/statistics': { '': plain },
  'POST /projects/:id/repository_size': { '': plain },
  'POST /projects/:id/housekeeping': {
    async ''(stage) {
      await sql`update repository_upkeep set asked_at = null`.execute(stage.world.service.services.db.writer)
      return {}
    },
  },
  'GET /projects/:id/languages': { '': plain },
  'GET /projects/:id/users': { '': plain },
  'GET /projects/:id/storage': { '': plain },
  'GET /projects/:id/snapshot': {
    async 'has a repository'(stage) {
      await stage.once('readme', () =>
        stage.make(`${stage.projectPath}/repository/files/snapshot.md`, {
          branch: 'main',
          content: 'kept',
          commit_message: 'Keep it',
        }),
      )
      return {}
    },
  },
  'GET /projects/:id/transfer_locations': { '': plain },
  'GET /users/:user_id/starred_projects': { '': () => ({ path: { user_id: 1 } }) },
  'POST /projects/:id/unstar': {
    starred: {
      forEach: true,
      async prepare(stage, { client }) {
        await client.post(`${stage.projectPath}/star`)
        return {}
      },
    },
  },
  'POST /projects/:id/restore': {
    'marked for deletion': {
      ownStage: true,
      async prepare(stage) {
        expectStatus(await stage.world.root.delete(stage.projectPath), 202)
        return {}
      },
    },
  },
  'POST /projects/:id/archive': { '': (stage) => withArchived(stage, 'unarchive') },
  'POST /projects/:id/unarchive': { 'archived project': (stage) => withArchived(stage, 'archive') },
  'PUT /projects/:id/transfer': {
    'caller may create projects in the target': {
      ownStage: true,
      prepare: async (stage) => ({ body: { namespace: await target(stage) } }),
    },
    'archived project': async (stage) => ({
      body: { namespace: await target(stage) },
      stage: await archived(stage),
    }),
  },
  'POST /projects/:id/star': { 'not starred': plain },
  'POST /projects/:id/fork': {
    'own namespace as target': (stage) => {
      const path = stage.unique('fork')
      return { body: { path, name: path } }
    },
  },
  'GET /projects/:id/forks': { '': plain },
  'POST /projects/:id/export': { '': plain },
  'GET /projects/:id/export': { '': plain },
  'GET /projects/:id/export/download': {
    'no archive yet': async (stage) => ({
      stage: await stage.variant('never exported', async () => undefined),
    }),
  },
  'GET /projects/:id/import': { '': plain },
  'POST /projects/import': { 'archives are no import source': plain },
  'POST /projects/remote-import': {
    'archives are no import source': () => ({ body: { url: 'https://archives.example/x', path: 'x' } }),
  },
  'POST /projects/:id/fork/:forked_from_id': {
    'no fork yet; public source': {
      ownStage: true,
      prepare: async (stage) => ({ path: { forked_from_id: idOf(await publicProject(stage)) } }),
    },
  },
  'DELETE /projects/:id/fork': {
    'a fork': async (stage) => {
      const own = await stage.variant('tied', async () => undefined)
      const source = await publicProject(stage)
      const reply = await stage.world.root.post(`${own.projectPath}/fork/${idOf(source)}`)
      if (reply.status !== 409) expectStatus(reply, 201)
      return { stage: own }
    },
  },
  'POST /projects/:id/share': {
    'group_access 30, readable group, not shared': async (stage) => ({
      body: { group_id: await readable(stage), group_access: 30 },
    }),
  },
  'DELETE /projects/:id/share/:group_id': {
    'link exists': async (stage) => {
      const group_id = await readable(stage)
      await stage.make(`${stage.projectPath}/share`, { group_id, group_access: 30 })
      return { path: { group_id } }
    },
  },
}

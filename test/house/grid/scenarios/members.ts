import { expectStatus, roles, type Json } from '../../../world/world.ts'
import { plain, type Place, type Prepare, type Scenario, type Scenarios, type Stage } from '../stage.ts'

const pathOf = (stage: Stage, place: Place): string =>
  place === 'project' ? stage.projectPath : stage.groupPath

/** A new user with this level, a direct member. */
async function member(stage: Stage, place: Place, level: number): Promise<{ path: { user_id: number } }> {
  const { id: user_id } = await stage.world.user()
  await stage.make(`${pathOf(stage, place)}/members`, { user_id, access_level: level })
  return { path: { user_id } }
}

/** Somebody who is a member of what lies above only; for groups that needs a group above. */
async function inherited(stage: Stage, place: Place): Promise<{ path: { user_id: number }; stage?: Stage }> {
  if (place === 'project') return member(stage, 'group', roles.developer)
  const { path, groupId } = await aboveOf(stage)
  return {
    path,
    stage: await stage.variant('subgroup', async () => undefined, { group: { parent_id: groupId } }),
  }
}

async function aboveOf(stage: Stage): Promise<{ path: { user_id: number }; groupId: number }> {
  return stage.once('group above', async () => {
    const above: Json = await stage.world.group({ visibility: stage.visibility })
    const { id: user_id } = await stage.world.user()
    const groupId = above['id'] as number
    await stage.make(`/groups/${groupId}/members`, { user_id, access_level: roles.developer })
    return { path: { user_id }, groupId }
  })
}

async function asked(stage: Stage, place: Place): Promise<{ path: { user_id: number } }> {
  const person = await stage.world.user()
  expectStatus(await person.post(`${pathOf(stage, place)}/access_requests`), 201)
  return { path: { user_id: person.id } }
}

async function invited(stage: Stage, place: Place): Promise<{ path: { email: string } }> {
  const email = `${stage.unique('invited')}@example.com`
  await stage.make(`${pathOf(stage, place)}/invitations`, { email, access_level: roles.guest })
  return { path: { email } }
}

/** A member whose membership waits, by its own id. */
async function waiting(stage: Stage): Promise<{ path: { member_id: number } }> {
  const { path } = await member(stage, 'group', roles.developer)
  const { groupPath, world } = stage
  expectStatus(await world.root.put(`${groupPath}/members/${path.user_id}/state`, { state: 'awaiting' }), 200)
  const { body } = await world.root.get(`${groupPath}/pending_members`)
  return { path: { member_id: (body as Json[]).at(-1)!['id'] as number } }
}

function newMember(access_level: number): Prepare {
  return async (stage) => ({ body: { user_id: (await stage.world.user()).id, access_level } })
}

/** The caller leaves; who was no member finds nothing to leave. */
const leave: Scenario = {
  forEach: true,
  async prepare(stage, { userId }, row) {
    const user_id = userId === 0 ? stage.cast.members.developer.id : userId
    return { path: { user_id }, stage: await stage.variant(`left in ${row.place}`, async () => undefined) }
  },
}

function scenarios(place: Place): Scenarios {
  const at = `/${place}s/:id/members`
  const developer: Prepare = (stage) => ({ path: { user_id: stage.cast.members.developer.id } })
  const change = { access_level: roles.developer }
  const requests = `/${place}s/:id/access_requests`
  const invitations = `/${place}s/:id/invitations`
  return {
    [`GET ${requests}`]: { '': plain },
    [`POST ${requests}`]: { 'not a member': plain },
    [`PUT ${requests}/:user_id/approve`]: { asked: (stage) => asked(stage, place) },
    [`DELETE ${requests}/:user_id`]: { asked: (stage) => asked(stage, place) },
    [`GET ${invitations}`]: { '': plain },
    [`POST ${invitations}`]: {
      'new address': (stage) => ({
        body: { email: `${stage.unique('new')}@example.com`, access_level: roles.guest },
      }),
    },
    [`PUT ${invitations}/:email`]: {
      invited: async (stage) => ({
        ...(await invited(stage, place)),
        body: { access_level: roles.reporter },
      }),
    },
    [`DELETE ${invitations}/:email`]: { invited: (stage) => invited(stage, place) },
    [`GET ${at}`]: { '': plain },
    [`GET ${at}/all`]: { '': plain },
    [`GET ${at}/:user_id`]: {
      'direct row exists': developer,
      'only an inherited membership': (stage) => stage.once('inherited', () => inherited(stage, place)),
    },
    [`GET ${at}/all/:user_id`]: { 'effective membership exists': developer },
    [`POST ${at}`]: {
      'access_level 30, new user': newMember(roles.developer),
      'access_level 50, new user': newMember(roles.owner),
      'direct row exists': (stage) => ({ body: { user_id: stage.cast.members.guest.id, ...change } }),
    },
    [`PUT ${at}/:user_id`]: {
      'target below Owner, access_level 30': async (stage) => ({
        ...(await stage.once('member', () => member(stage, place, roles.guest))),
        body: change,
      }),
      'target is an owner, another owner remains': async (stage) => ({
        ...(await member(stage, place, roles.owner)),
        body: change,
      }),
    },
    [`DELETE ${at}/:user_id`]: {
      'target below Owner': (stage) => member(stage, place, roles.guest),
      'target is an owner, another owner remains': (stage) => member(stage, place, roles.owner),
      'own direct membership, another owner remains': leave,
      'last owner of the group': async (stage) => ({
        path: { user_id: stage.cast.members.owner.id },
        stage: await stage.variant('one owner', leaveOneOwner),
      }),
    },
  }
}

async function leaveOneOwner({ groupPath, world, cast }: Stage): Promise<void> {
  for (const user of [cast.blocked, world.root]) await world.root.delete(`${groupPath}/members/${user.id}`)
}

const billable: Prepare = (stage) => ({ path: { user_id: stage.cast.members.developer.id } })

/** The project that members are to come from. */
function importedFrom(letIn: boolean): Prepare {
  return async (stage) => ({
    path: {
      project_id: await stage.once(`members to import ${letIn}`, async () => {
        const { id } = await stage.world.project()
        if (letIn) await stage.cast.letIn(`/projects/${id}`)
        return id
      }),
    },
  })
}

export const projectMemberScenarios: Scenarios = {
  ...scenarios('project'),
  'POST /projects/:id/import_project_members/:project_id': {
    'a project that everybody looks after': importedFrom(true),
    'a project that nobody knows': importedFrom(false),
  },
}
export const groupMemberScenarios: Scenarios = {
  ...scenarios('group'),
  'PUT /groups/:id/members/:user_id/state': {
    'top-level group, state differs': async (stage) => ({
      ...(await member(stage, 'group', roles.developer)),
      body: { state: 'awaiting' },
    }),
  },
  'GET /groups/:id/pending_members': { '': plain },
  'PUT /groups/:id/members/:member_id/approve': { 'membership waits': waiting },
  'POST /groups/:id/members/approve_all': { '': plain },
  'GET /groups/:id/billable_members': {
    'top-level group': plain,
    subgroup: async (stage) => ({
      stage: await stage.variant('subgroup', async () => undefined, {
        group: { parent_id: (await aboveOf(stage)).groupId },
      }),
    }),
  },
  'GET /groups/:id/billable_members/:user_id/memberships': { 'top-level group': billable },
  'GET /groups/:id/billable_members/:user_id/indirect': { 'top-level group': billable },
  'DELETE /groups/:id/billable_members/:user_id': {
    'top-level group': (stage) => member(stage, 'group', roles.developer),
  },
}

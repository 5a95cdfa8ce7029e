import { roles } from '../../../world/world.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'

type RolePath = { path: { member_role_id: number } }

function fields(stage: Stage): { name: string; base_access_level: number; read_code: boolean } {
  return { name: stage.unique('role'), base_access_level: roles.guest, read_code: true }
}

async function made(stage: Stage, path: string): Promise<RolePath> {
  return { path: { member_role_id: (await stage.make(path, fields(stage)))['id'] as number } }
}

const ofInstance = (stage: Stage): Promise<RolePath> => made(stage, '/member_roles')
const ofGroup = (stage: Stage): Promise<RolePath> => made(stage, `${stage.groupPath}/member_roles`)

/** A role that a member has, who stays. */
async function held(stage: Stage): Promise<RolePath> {
  const role = await ofGroup(stage)
  await stage.make(`${stage.groupPath}/members`, {
    user_id: (await stage.world.user()).id,
    access_level: roles.guest,
    ...role.path,
  })
  return role
}

const renamed = (stage: Stage) => ({ body: { name: stage.unique('renamed') } })
const explained = (stage: Stage) => ({
  query: `user_id=${stage.cast.members.developer.id}&ability=leave`,
})

export const memberRoleScenarios: Scenarios = {
  'GET /member_roles': { '': plain },
  'POST /member_roles': { '': (stage) => ({ body: fields(stage) }) },
  'PUT /member_roles/:member_role_id': {
    '': async (stage) => ({
      ...(await stage.once('instance role', () => ofInstance(stage))),
      ...renamed(stage),
    }),
  },
  'PATCH /member_roles/:member_role_id': {
    '': async (stage) => ({
      ...(await stage.once('instance role', () => ofInstance(stage))),
      ...renamed(stage),
    }),
  },
  'DELETE /member_roles/:member_role_id': { '': ofInstance },
  'GET /groups/:id/member_roles': { 'top-level group': plain },
  'POST /groups/:id/member_roles': { 'top-level group': (stage) => ({ body: fields(stage) }) },
  'PUT /groups/:id/member_roles/:member_role_id': {
    'top-level group': async (stage) => ({
      ...(await stage.once('role', () => ofGroup(stage))),
      ...renamed(stage),
    }),
  },
  'PATCH /groups/:id/member_roles/:member_role_id': {
    'top-level group': async (stage) => ({
      ...(await stage.once('role', () => ofGroup(stage))),
      ...renamed(stage),
    }),
  },
  'DELETE /groups/:id/member_roles/:member_role_id': {
    'top-level group': ofGroup,
    'role assigned to a member': (stage) => stage.once('held role', () => held(stage)),
  },
  'GET /groups/:id/access/explain': { '': explained },
  'GET /projects/:id/access/explain': { '': explained },
}

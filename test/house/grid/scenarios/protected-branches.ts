import type { Json } from '../../../world/world.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'

async function rule(stage: Stage, fields: Json = {}): Promise<{ path: { name: string } }> {
  const name = stage.unique('branch')
  await stage.make(`${stage.projectPath}/protected_branches`, { name, ...fields })
  return { path: { name } }
}

async function groupRule(stage: Stage): Promise<{ path: { name: string } }> {
  const name = stage.unique('branch')
  await stage.make(`${stage.groupPath}/protected_branches`, { name })
  return { path: { name } }
}

async function tagRule(stage: Stage): Promise<{ path: { name: string } }> {
  const name = stage.unique('tag')
  await stage.make(`${stage.projectPath}/protected_tags`, { name })
  return { path: { name } }
}

export const protectedTagScenarios: Scenarios = {
  'GET /projects/:id/protected_tags': { '': plain },
  'GET /projects/:id/protected_tags/:name': { '': (stage) => stage.once('tag rule', () => tagRule(stage)) },
  'POST /projects/:id/protected_tags': { '': (stage) => ({ body: { name: stage.unique('tag') } }) },
  'DELETE /projects/:id/protected_tags/:name': { '': tagRule },
}

export const protectedBranchScenarios: Scenarios = {
  'GET /projects/:id/protected_branches': { '': plain },
  'GET /projects/:id/protected_branches/:name': { '': (stage) => stage.once('rule', () => rule(stage)) },
  'GET /projects/:id/protected_branches/preview': {
    '': () => ({ query: 'ref=main' }),
    'of another user': () => ({ query: 'ref=main&user_id=1' }),
  },
  'POST /projects/:id/protected_branches': {
    '': (stage) => ({ body: { name: stage.unique('new') } }),
    'rule exists': async (stage) => ({ body: (await stage.once('rule', () => rule(stage))).path }),
  },
  'PATCH /projects/:id/protected_branches/:name': {
    '': async (stage) => ({
      ...(await stage.once('rule', () => rule(stage))),
      body: { allow_force_push: true },
    }),
    'unprotect level 60': async (stage) => ({
      ...(await rule(stage, { unprotect_access_level: 60 })),
      body: { allow_force_push: true },
    }),
  },
  'DELETE /projects/:id/protected_branches/:name': {
    '': (stage) => rule(stage),
    'unprotect level 60': (stage) => rule(stage, { unprotect_access_level: 60 }),
  },
  'GET /groups/:id/protected_branches': { '': plain },
  'GET /groups/:id/protected_branches/:name': {
    '': (stage) => stage.once('group rule', () => groupRule(stage)),
  },
  'POST /groups/:id/protected_branches': { '': (stage) => ({ body: { name: stage.unique('new') } }) },
  'PATCH /groups/:id/protected_branches/:name': {
    '': async (stage) => ({
      ...(await stage.once('group rule', () => groupRule(stage))),
      body: { allow_force_push: true },
    }),
  },
  'DELETE /groups/:id/protected_branches/:name': { '': groupRule },
}

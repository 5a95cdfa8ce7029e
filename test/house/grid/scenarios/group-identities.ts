import type { Request, Scenarios, Stage } from '../stage.ts'

/** A member who plays no part, known at the sign-in of the group. */
async function known(stage: Stage): Promise<Request> {
  const { id } = await stage.world.member({ group: stage.group }, 'guest')
  const uid = stage.unique('known')
  await stage.make(`${stage.groupPath}/saml/identities`, { user_id: id, extern_uid: uid })
  return { path: { uid } }
}

export const groupIdentityScenarios: Scenarios = {
  'GET /groups/:id/saml/identities': { '': () => ({}) },
  'POST /groups/:id/saml/identities': {
    '': async (stage) => {
      const { id } = await stage.world.member({ group: stage.group }, 'guest')
      return { body: { user_id: id, extern_uid: stage.unique('known') } }
    },
  },
  'GET /groups/:id/saml/:uid': { 'identity exists': known },
  'PATCH /groups/:id/saml/:uid': {
    'identity exists': async (stage) => ({
      ...(await known(stage)),
      body: { extern_uid: stage.unique('known') },
    }),
  },
  'DELETE /groups/:id/saml/:uid': { 'identity exists': known },
  'GET /groups/:id/verified_domains': { '': () => ({}) },
  'PUT /groups/:id/verified_domains': {
    '': (stage) => ({ body: { domains: [`${stage.unique('corp')}.example`] } }),
  },
}

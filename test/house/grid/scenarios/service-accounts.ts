import { idOf } from '../actors.ts'
import type { Scenarios, Stage } from '../stage.ts'

async function ofGroup(stage: Stage): Promise<{ path: { user_id: number } }> {
  return { path: { user_id: idOf(await stage.make(`${stage.groupPath}/service_accounts`)) } }
}

const token = (stage: Stage) => ({ name: stage.unique('token'), scopes: ['read_api'] })

async function withToken(stage: Stage): Promise<{ path: { user_id: number; token_id: number } }> {
  const { path } = await ofGroup(stage)
  const made = await stage.make(
    `${stage.groupPath}/service_accounts/${path.user_id}/personal_access_tokens`,
    token(stage),
  )
  return { path: { ...path, token_id: idOf(made) } }
}

export const serviceAccountScenarios: Scenarios = {
  'GET /service_accounts': { '': () => ({}) },
  'POST /service_accounts': { '': () => ({}) },
  'PATCH /service_accounts/:user_id': {
    '': async (stage) => ({
      path: { user_id: idOf(await stage.make('/service_accounts')) },
      body: { name: 'Robot' },
    }),
  },
  'GET /groups/:id/service_accounts': { '': () => ({}) },
  'POST /groups/:id/service_accounts': { '': () => ({}) },
  'PATCH /groups/:id/service_accounts/:user_id': {
    '': async (stage) => ({ ...(await ofGroup(stage)), body: { name: 'Robot' } }),
  },
  'DELETE /groups/:id/service_accounts/:user_id': { '': ofGroup },
  'GET /groups/:id/service_accounts/:user_id/personal_access_tokens': { '': ofGroup },
  'POST /groups/:id/service_accounts/:user_id/personal_access_tokens': {
    '': async (stage) => ({ ...(await ofGroup(stage)), body: token(stage) }),
  },
  'DELETE /groups/:id/service_accounts/:user_id/personal_access_tokens/:token_id': { '': withToken },
  'POST /groups/:id/service_accounts/:user_id/personal_access_tokens/:token_id/rotate': { '': withToken },
}

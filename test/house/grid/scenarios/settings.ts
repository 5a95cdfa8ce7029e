import { idOf } from '../actors.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'

const application = {
  name: 'Planner',
  redirect_uri: 'https://client.example/callback',
  scopes: ['read_user'],
}
const newApplication = async (stage: Stage) => ({
  path: { id: idOf(await stage.make('/applications', application)) },
})

const newMessage = async (stage: Stage) => ({
  path: { id: idOf(await stage.make('/broadcast_messages', { message: 'Hello' })) },
})

const newReport = async (stage: Stage) => ({
  path: {
    id: idOf(
      await stage.make('/abuse_reports', {
        user_id: (await stage.world.user()).id,
        category: 'spam',
        message: 'x',
      }),
    ),
  },
})

export const settingScenarios: Scenarios = {
  'GET /application/settings': {
    '': plain,
    'admin_mode on, token without scope admin_mode': {
      prepare: async ({ world }) => {
        await world.service.services.settings.change({ admin_mode: true })
        return {}
      },
      after: ({ world }) => world.service.services.settings.change({ admin_mode: false }),
    },
  },
  'PUT /application/settings': {
    '': () => ({ body: { first_day_of_week: 1 } }),
    'no known attribute': () => ({ body: { nobody_knows_this: 1 } }),
  },
  'GET /applications': { '': plain },
  'GET /applications/:id': { '': (stage) => stage.once('application', () => newApplication(stage)) },
  'POST /applications': { '': () => ({ body: application }) },
  'POST /applications/:id/renew-secret': {
    '': (stage) => stage.once('application', () => newApplication(stage)),
  },
  'DELETE /applications/:id': { '': newApplication },
  'GET /features': { '': plain },
  'GET /features/definitions': { '': plain },
  'POST /features/:name': {
    '': () => ({ path: { name: 'webui_members_inherited_users' }, body: { value: 'true' } }),
  },
  'DELETE /features/:name': { '': () => ({ path: { name: 'webui_members_inherited_users' } }) },
  'GET /license': { '': plain },
  'GET /licenses': { '': plain },
  'GET /license/:id': { '': () => ({ path: { id: 1 } }) },
  'POST /license': { '': () => ({ body: { license: 'x' } }) },
  'DELETE /license/:id': { '': () => ({ path: { id: 1 } }) },
  'PUT /license/:id/refresh_billable_users': { '': () => ({ path: { id: 1 } }) },
  'GET /broadcast_messages': { '': plain },
  'GET /broadcast_messages/:id': { '': (stage) => stage.once('broadcast', () => newMessage(stage)) },
  'POST /broadcast_messages': { '': () => ({ body: { message: 'Hello' } }) },
  'PUT /broadcast_messages/:id': {
    '': async (stage) => ({
      ...(await stage.once('broadcast', () => newMessage(stage))),
      body: { message: 'Hello again' },
    }),
  },
  'DELETE /broadcast_messages/:id': { '': newMessage },
  'GET /application/appearance': { '': plain },
  'PUT /application/appearance': { '': () => ({ body: { title: 'Ours' } }) },
  'GET /abuse_reports': { '': plain },
  'POST /abuse_reports': {
    '': async ({ world }) => ({ body: { user_id: (await world.user()).id, category: 'spam', message: 'x' } }),
  },
  'DELETE /abuse_reports/:id': { '': newReport },
  'GET /application/statistics': { '': plain },
  'GET /application/settings/history': { '': plain },
  'GET /application/settings/catalogue': { '': plain },
  'POST /application/settings/rollback': { '': () => ({ body: { revision: 1, dry_run: true } }) },
}

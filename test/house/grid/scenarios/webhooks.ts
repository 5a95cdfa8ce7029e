import { idOf } from '../actors.ts'
import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'

/** An address outside that resolves without asking anybody. */
const body = { url: 'http://192.0.2.1/hook', custom_headers: [{ key: 'X-A', value: 'a' }] }
const withVariable = { url: 'http://192.0.2.1/{a}', url_variables: [{ key: 'a', value: 'b' }] }

const hooksOf = (of: string, where: (stage: Stage) => string): Scenarios => {
  const path = `/${of}hooks`
  const made =
    (fields: object = body) =>
    async (stage: Stage) =>
      idOf(await stage.make(`${where(stage)}/hooks`, fields))
  const onHook =
    (request: object = {}, fields?: object): Prepare =>
    async (stage) => ({ ...request, path: { hook_id: await made(fields)(stage) } })
  /** Of a webhook that everybody reads. */
  const reading = async (stage: Stage) => ({
    path: { hook_id: await stage.once(`webhook of ${of}`, () => made()(stage)) },
  })
  const pair =
    (key: string, request: object, fields?: object): Prepare =>
    async (stage) => ({
      ...request,
      path: { hook_id: await made(fields)(stage), key },
    })
  return {
    [`GET ${path}`]: { '': plain },
    [`GET ${path}/:hook_id`]: { '': reading },
    [`POST ${path}`]: { '': () => ({ body }) },
    [`PUT ${path}/:hook_id`]: { '': onHook({ body: { name: 'Other' } }) },
    [`DELETE ${path}/:hook_id`]: { '': onHook() },
    [`PUT ${path}/:hook_id/custom_headers/:key`]: { '': pair('X-A', { body: { value: 'b' } }) },
    [`DELETE ${path}/:hook_id/custom_headers/:key`]: { '': pair('X-A', {}) },
    [`PUT ${path}/:hook_id/url_variables/:key`]: { '': pair('a', { body: { value: 'b' } }, withVariable) },
    [`DELETE ${path}/:hook_id/url_variables/:key`]: { '': pair('a', {}, withVariable) },
    [`GET ${path}/:hook_id/events`]: { '': reading },
    [`POST ${path}/:hook_id/events/:hook_log_id/resend`]: {
      'no such call': async (stage) => ({ path: { ...(await reading(stage)).path, hook_log_id: 1 } }),
    },
  }
}

/** A port where nobody listens: to be called it takes a setting that others must not see for long. */
const ofInstance: Prepare = async (stage) => {
  const { root } = stage.world
  const change = (value: boolean) =>
    root.put('/application/settings', { allow_local_requests_from_system_hooks: value })
  await change(true)
  const hook = await stage.make('/hooks', { url: 'http://127.0.0.1:1/' })
  await change(false)
  return { path: { hook_id: idOf(hook) } }
}

const tested =
  (where: (stage: Stage) => string): Prepare =>
  async (stage) => ({
    path: { hook_id: idOf(await stage.make(`${where(stage)}/hooks`, body)), trigger: 'wiki_page_events' },
  })

export const webhookScenarios: Scenarios = {
  'POST /projects/:id/hooks/:hook_id/test/:trigger': {
    'nothing happened that calls': tested((stage) => stage.projectPath),
  },
  'POST /groups/:id/hooks/:hook_id/test/:trigger': {
    'nothing happened that calls': tested((stage) => stage.groupPath),
  },
  'POST /hooks/:hook_id': { 'nobody answers': ofInstance },
  ...hooksOf('projects/:id/', (stage) => stage.projectPath),
  ...hooksOf('groups/:id/', (stage) => stage.groupPath),
  ...hooksOf('', () => ''),
}

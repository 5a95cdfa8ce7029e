import { idOf } from '../actors.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'
import type { Json } from '../../../world/world.ts'

/** Something to be of interest: an export. */
const eventOf = (kind: 'project' | 'group') => (stage: Stage) =>
  stage.once(`audit event of the ${kind}`, async () => {
    const { root } = stage.world
    const place = `/${kind}s/${idOf(kind === 'project' ? stage.project : stage.group)}`
    await root.post(`${place}/export`)
    const [event] = (await root.get(`${place}/audit_events`)).body as Json[]
    return { path: { audit_event_id: idOf(event!), id: idOf(event!) } }
  })
const within = (kind: 'project' | 'group') => async (stage: Stage) => {
  const { audit_event_id } = (await eventOf(kind)(stage)).path
  return { path: { audit_event_id } }
}

export const auditEventScenarios: Scenarios = {
  'GET /audit_events': { '': plain },
  'GET /audit_events/:id': {
    '': async (stage) => ({ path: { id: (await eventOf('project')(stage)).path.id } }),
  },
  'GET /projects/:id/audit_events': { '': plain },
  'GET /projects/:id/audit_events/:audit_event_id': { '': within('project') },
  'GET /groups/:id/audit_events': { '': plain },
  'GET /groups/:id/audit_events/:audit_event_id': { '': within('group') },
}

import { sql } from 'kysely'
import { idOf } from '../actors.ts'
import type { Request, Scenarios, Stage } from '../stage.ts'

/** Pictures come in forms, which the grid does not send. */
async function picture(stage: Stage, kind: 'project' | 'group'): Promise<Request> {
  await stage.once(`picture of the ${kind}`, () =>
    sql`
      insert into avatars (${sql.ref(kind === 'project' ? 'project_id' : 'namespace_id')}, content_type, content, digest)
      values (${idOf(stage[kind])}, 'image/png', 'x', 'x')`.execute(stage.world.service.services.db.writer),
  )
  return {}
}

export const avatarScenarios: Scenarios = {
  'GET /avatar': { '': () => ({ query: 'email=somebody@example.com' }) },
  'PUT /user/avatar': { '': () => ({ body: { avatar: '' } }) },
  'GET /projects/:id/avatar': { 'has a picture': (stage) => picture(stage, 'project') },
  'GET /groups/:id/avatar': { 'has a picture': (stage) => picture(stage, 'group') },
}

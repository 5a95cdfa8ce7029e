import { sql } from 'kysely'
import { plain, type Prepare, type Scenario, type Scenarios, type Stage } from '../stage.ts'

/** A session of a user, as signing in leaves it. */
async function session(stage: Stage, userId: number): Promise<{ path: { session_id: number } }> {
  const { rows } = await sql<{ id: number }>`
    insert into user_sessions (user_id, digest, expires_at)
    values (${userId}, ${stage.unique('session')}, now() + interval '1 day') returning id`.execute(
    stage.world.service.services.db.writer,
  )
  return { path: { session_id: rows[0]!.id } }
}

const own: Scenario = {
  forEach: true,
  prepare: (stage, { userId }) => session(stage, userId === 0 ? stage.cast.stranger.id : userId),
}

const wrong = { password: 'a wrong one', code: '000000' }
const withWrongPassword: Prepare = () => ({ body: wrong })

export const sessionScenarios: Scenarios = {
  'GET /user/sessions': { '': plain },
  'DELETE /user/sessions': { '': plain },
  'DELETE /user/sessions/:session_id': {
    'own session': own,
    'session of another user': async (stage) => session(stage, (await stage.world.user()).id),
  },
  'PUT /user/password': {
    'wrong current password': () => ({ body: { current_password: 'a wrong one', password: 'another one' } }),
  },
  'GET /user/two_factor': { '': plain },
  'POST /user/two_factor': { 'wrong password': withWrongPassword },
  'POST /user/two_factor/confirm': { 'nothing to confirm': () => ({ body: { code: '000000' } }) },
  'POST /user/two_factor/recovery_codes': { 'wrong password': withWrongPassword },
  'DELETE /user/two_factor': { 'wrong password': withWrongPassword },
  'PATCH /users/:id/disable_two_factor': {
    'no second factor': (stage) => ({ path: { id: stage.cast.stranger.id } }),
  },
}

import { sql, type Database } from '../../kernel/db/index.ts'
import { planLimits } from '../../settings/index.ts'
import { create, renewToken } from './store.ts'

/** The instance runner of a node, made the first time, with a new token each time: nothing of it is kept in clear. */
export async function ensureBuiltInRunner(db: Database, nodeId: string): Promise<string> {
  const name = `built-in-${nodeId}`
  return db.transaction(async (tx) => {
    const { rows } = await sql<{ id: number }>`
      select r.id from ci_runners r where r.creation = 'built_in' and r.name = ${name} for update`.execute(tx)
    if (rows[0] !== undefined) return (await renewToken(tx, rows[0].id, null)).token
    const runner = {
      runner_type: 'instance_type',
      name,
      description: 'Runner of this service',
      paused: false,
      locked: false,
      run_untagged: true,
      tag_list: [],
      access_level: 'not_protected',
      maximum_timeout: null,
      maintenance_note: null,
      namespaceId: null,
      projectId: null,
      createdById: null,
      creation: 'built_in',
      expiresAt: null,
    } as const
    const made = await create(tx, runner, planLimits)
    return made.token
  })
}

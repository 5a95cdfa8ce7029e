import { endpoint, project } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { Fields, Flag, Id, rows, type Endpoint } from '../../kernel/endpoint/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'

export { secretGuard } from './guard.ts'

const SecuritySettings = Fields({
  project_id: Id(),
  secret_push_protection_enabled: Flag({ description: 'Pushes that bring tokens or keys are refused' }),
})

interface Row {
  readonly project_id: number
  readonly secret_push_protection_enabled: boolean
}

const shown = sql<Row>`
  select p.id as project_id, p.secret_push_protection as secret_push_protection_enabled from projects p`

/** Whether a project wants tokens and keys kept out; the instance says whether it can have that. */
export function secretPushProtection({
  db,
  settings,
}: {
  db: Database
  settings: Pick<Settings, 'values'>
}): { endpoints: Endpoint[] } {
  const about = {
    on: project,
    path: '/projects/:id/security_settings',
    plan: planOf.secret_push_protection,
  } as const
  return {
    endpoints: [
      endpoint({
        ...about,
        method: 'GET',
        may: 'read_security_settings',
        summary: 'Get what a project is protected from',
        answers: SecuritySettings,
        read: () => rows<Row>(sql`${shown} where p.id = subject.id`),
        handle: async ({ rows: [row] }) => row!,
      }),
      endpoint({
        ...about,
        method: 'PUT',
        may: 'admin_security_settings',
        summary: 'Change what a project is protected from',
        params: Fields({ secret_push_protection_enabled: Flag() }),
        answers: SecuritySettings,
        refuses: { 403: 'The instance does not offer it' },
        handle: ({ project: { id }, params: { secret_push_protection_enabled: wanted } }) => {
          if (wanted && !settings.values.secret_push_protection_available) throw forbidden()
          return db.transaction((tx) => change(tx, id, wanted))
        },
      }),
    ],
  }
}

async function change(tx: Tx, id: number, wanted: boolean): Promise<Row> {
  await sql`update projects set secret_push_protection = ${wanted} where id = ${id}`.execute(tx)
  const { rows: found } = await sql<Row>`${shown} where p.id = ${id}`.execute(tx)
  return found[0]!
}

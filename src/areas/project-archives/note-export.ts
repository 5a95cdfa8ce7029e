import { isAdministrator, type Actor, type GroupSubject, type ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import { recordAuditEvent } from '../audit-events/index.ts'

const words = { created: 'Export created', file_download_started: 'Export file download started' } as const

/** That somebody took a project or group away in a file; of administrators the instance may not want to know it. */
export async function noteExport(
  tx: Tx,
  { values }: Pick<Settings, 'values'>,
  { actor, subject, address }: { actor: Actor; subject: ProjectSubject | GroupSubject; address: string },
  what: keyof typeof words,
): Promise<void> {
  if (values.silent_admin_exports_enabled && isAdministrator(actor)) return
  const event = { name: `${subject.kind}_export_${what}`, message: words[what] }
  await recordAuditEvent(tx, actor, subject, event, address)
}

import { userOf, type Actor, type GroupSubject, type ProjectSubject } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'

/** What was done, by the name that clients know, and in words. */
export interface AuditEvent {
  readonly name: string
  readonly message: string
}

/** Writes down what somebody did with a project or group, in the transaction that does it. */
export async function recordAuditEvent(
  tx: Tx,
  actor: Actor,
  subject: ProjectSubject | GroupSubject,
  { name, message }: AuditEvent,
  address: string,
): Promise<void> {
  const author = userOf(actor)
  const type = subject.kind === 'project' ? 'Project' : 'Group'
  const details = {
    custom_message: message,
    author_name: author.name,
    author_email: author.email,
    author_class: 'User',
    target_id: subject.id,
    target_type: type,
    target_details: subject.name,
    ip_address: address,
    entity_path: subject.fullPath,
  }
  await sql`
    insert into audit_events (author_id, entity_type, entity_id, event_name, details)
    values (${author.id}, ${type}, ${subject.id}, ${name}, ${JSON.stringify(details)}::jsonb)`.execute(tx)
}

import { sql, type Database } from '../../kernel/db/index.ts'
import { currentChain } from '../../kernel/lib/chain.ts'

/** Calls that one thing may lead to, one by another. */
const longest = 100
/** Hours that chains are remembered. */
const kept = 24

/**
 * Writes down that a webhook is called for what has this uuid, and tells whether it may be: in a chain of calls each
 * webhook is called by one link only, for else two of them could go on calling each other for ever.
 */
export async function mayCall(db: Database, hookId: number, eventUuid: string): Promise<boolean> {
  const link = currentChain()?.link ?? null
  const { rows } = await sql<{ may: boolean }>`
    with known as (
      select c.webhook_id, c.link from webhook_chains c where c.uuid = ${eventUuid}
    ), verdict as (
      select ${link}::uuid is null or (
        (select count(*) from known) < ${longest}
        and not exists (select from known where webhook_id = ${hookId} and link is distinct from ${link}::uuid)) as may
    ), noted as (
      insert into webhook_chains (uuid, webhook_id, link)
      select ${eventUuid}, w.id, ${link} from verdict join webhooks w on w.id = ${hookId} where verdict.may
      on conflict do nothing
    )
    select may from verdict`.execute(db.writer)
  return rows[0]!.may
}

export async function forgetChains(db: Database): Promise<void> {
  await sql`delete from webhook_chains where created_at < now() - make_interval(hours => ${kept})`.execute(
    db.writer,
  )
}

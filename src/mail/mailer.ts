import type { Transporter } from 'nodemailer'
import { sql, type Database, type Tx } from '../kernel/db/index.ts'
import type { Cipher } from '../kernel/lib/secrets.ts'
import type { Logger } from '../kernel/log/index.ts'
import type { Settings } from '../settings/index.ts'
import { enqueue, enqueued, type Schedule, type Task } from '../tasks/index.ts'
import { openTransport } from './transport.ts'

export interface Mail {
  /** What it tells whom: a mail with a key that was there already is not sent. */
  readonly key: string
  readonly to: { readonly name?: string; readonly address: string; readonly userId?: number | null }
  readonly subject: string
  readonly text: string
  /** Shown as the sender's name instead of the service's. */
  readonly fromName?: string
  /** Further headers, as `List-Unsubscribe`. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface MailServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
  readonly log: Logger
  /** Undefined: no mail is sent, and none is queued. */
  readonly smtp: URL | undefined
  /** Undefined: `no-reply@` and the host of the service. */
  readonly from: string | undefined
  readonly externalUrl: () => string
}

const sendTask = 'mail:send'
const forgetTask = 'mail:forget'
const context = 'mails.sealed'
const mostAttempts = 12
const minute = 60_000
const longestWait = 360 * minute

type Content = Pick<Mail, 'subject' | 'text' | 'fromName' | 'headers'> & { readonly name?: string }

interface Row {
  readonly key: string
  readonly address: string
  readonly sealed: string
  readonly attempts: number
}

/** Mails by SMTP. They are queued in the transaction that causes them, and sent by a task. */
export class Mailer implements AsyncDisposable {
  readonly #services: MailServices
  #transport: Transporter | undefined

  constructor(services: MailServices) {
    this.#services = services
  }

  /** Whether a server is configured; without one there is no need to put mails together. */
  get enabled(): boolean {
    return this.#services.smtp !== undefined
  }

  async queue(tx: Tx, ...mails: readonly Mail[]): Promise<void> {
    if (!this.enabled || mails.length === 0) return
    const rows = mails.map(({ key, to, ...content }) => ({
      key,
      user_id: to.userId ?? null,
      address: to.address,
      sealed: this.#seal({ ...content, ...(to.name !== undefined && { name: to.name }) }),
    }))
    await sql`
      with queued as (
        insert into mails (key, user_id, address, sealed)
        select m.key, m.user_id, m.address, m.sealed
        from jsonb_to_recordset(${JSON.stringify(rows)}) m (key text, user_id bigint, address text, sealed text)
        on conflict (key) do nothing returning id)
      select count(task) from ${enqueued(sql`
        select ${sendTask} as name, json_build_object('mail', queued.id) as payload from queued`)} added`.execute(
      tx,
    )
  }

  tasks(): Task[] {
    return [
      { name: sendTask, run: (payload) => this.#send((payload as { mail: number }).mail) },
      { name: forgetTask, run: () => this.#forget() },
    ]
  }

  schedules(): Schedule[] {
    return [{ task: forgetTask, pattern: '20 3 * * *' }]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#transport?.close()
  }

  /** The legal text of the instance stands below every mail, and its messages around all, if it wants that. */
  #seal({ text, ...content }: Content): string {
    const additional = this.#services.settings.values.email_additional_text?.trim() ?? ''
    const {
      email_header_and_footer_enabled: framed,
      header_message,
      footer_message,
    } = this.#services.settings.appearance
    const whole = [
      ...(framed && header_message !== '' ? [`${header_message}\n`] : []),
      text,
      ...(additional === '' ? [] : [`${additional}\n`]),
      ...(framed && footer_message !== '' ? [`${footer_message}\n`] : []),
    ].join('\n')
    return this.#services.cipher.seal(JSON.stringify({ ...content, text: whole }), context)
  }

  /** A failure that may pass is tried again, later and later; one that will not, and the last, is noted. */
  async #send(id: number): Promise<void> {
    const { db, smtp, log } = this.#services
    const row = await this.#find(id)
    if (row === undefined) return
    if (smtp === undefined) return this.#end(id, 'no server is configured')
    try {
      await this.#deliver(smtp, id, row)
    } catch (error) {
      const { responseCode, message } = error as Error & { responseCode?: number }
      const attempts = row.attempts + 1
      const lasting = (responseCode !== undefined && responseCode >= 500) || attempts >= mostAttempts
      log.warn({ err: error, mail: id, attempts, lasting }, 'a mail could not be delivered')
      if (lasting) return this.#end(id, message.slice(0, 500))
      const runAt = new Date(Date.now() + Math.min(longestWait, minute * 2 ** row.attempts))
      await db.transaction(async (tx) => {
        await tx.updateTable('mails').set({ attempts }).where('id', '=', id).execute()
        await enqueue(tx, sendTask, { mail: id }, { runAt })
      })
      return
    }
    await this.#end(id, null)
  }

  async #find(id: number): Promise<Row | undefined> {
    const row = await this.#services.db.reader
      .selectFrom('mails as m')
      .select(['m.key', 'm.address', 'm.sealed', 'm.attempts'])
      .where('m.id', '=', id)
      .executeTakeFirst()
    return row?.sealed == null ? undefined : { ...row, sealed: row.sealed }
  }

  async #deliver(smtp: URL, id: number, { address, sealed }: Row): Promise<void> {
    const { cipher, externalUrl } = this.#services
    const host = new URL(externalUrl()).hostname
    const content = JSON.parse(cipher.open(sealed, context)) as Content
    const { subject, text, name, fromName, headers = {} } = content
    const { displayName, from } = this.#sender(host)
    this.#transport ??= openTransport({ url: smtp })
    await this.#transport.sendMail({
      from: { name: fromName ?? displayName, address: from },
      to: { name: name ?? '', address },
      subject,
      text,
      // The same at each attempt: who gets a mail twice can tell.
      messageId: `<mail-${id}@${host}>`,
      headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    })
  }

  #sender(host: string): { displayName: string; from: string } {
    const given = this.#services.from ?? `no-reply@${host}`
    const [, name, address] = /^\s*(.*?)\s*<([^<>]+)>\s*$/.exec(given) ?? [undefined, '', given.trim()]
    return { displayName: name || 'Guildhall', from: address }
  }

  async #end(id: number, failure: string | null): Promise<void> {
    await this.#services.db.writer
      .updateTable('mails')
      .set({ sealed: null, ended_at: sql`now()`, failure })
      .where('id', '=', id)
      .execute()
  }

  /** The keys are kept as long as the news that they stand for may come again. */
  async #forget(): Promise<void> {
    await sql`delete from mails m where m.ended_at < now() - interval '14 days'`.execute(
      this.#services.db.writer,
    )
  }
}

import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { Traces } from '../jobs/index.ts'
import { chatStyles } from '../webhooks/index.ts'
import { outputOf } from './output.ts'
import * as store from './store.ts'

export interface ReplyServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
  readonly outbound: Outbound
  readonly events: Events
  readonly log: Logger
  readonly externalUrl: () => string
  readonly traces: Pick<Traces, 'read'>
}

const context = 'chat_pipelines.response_url'
const longestAddress = 2048
/** Of a log, from its end. */
const mostBytes = 200_000

/** Notes where a chat wants to hear what its job said. */
export async function keepAddress(
  { db, cipher }: Pick<ReplyServices, 'db' | 'cipher'>,
  pipelineId: number,
  address: string | undefined,
): Promise<void> {
  const url = URL.parse(address ?? '')
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > longestAddress) return
  await store.expectPipeline(db.writer, pipelineId, cipher.seal(url.href, context))
}

/** Tells chats what the jobs said that they ran. */
export function replyToChats(services: ReplyServices): void {
  services.events.subscribe<{ pipelineId: number }>(
    'job',
    'chat-app:job',
    async ({ payload: { pipelineId } }) => {
      const { db, cipher, settings, outbound, log, externalUrl, traces } = services
      const job = await store.expectedJob(db.reader, pipelineId)
      if (job === undefined) return
      if (!settings.values.silent_mode_enabled) {
        const found = await traces.read(job.id, { last: mostBytes })
        const parts: Buffer[] = []
        for await (const part of found?.content ?? []) parts.push(part as Buffer)
        const said = outputOf(Buffer.concat(parts).toString('utf8'))
        const style = chatStyles.slack
        const link = style.link(`${externalUrl()}/${job.full_path}/-/jobs/${job.id}`, `#${job.id}`)
        const ended = { success: 'has passed', failed: 'has failed', canceled: 'was canceled' }[job.status]!
        const text = `${style.plain(job.name)} ${link} ${ended}${said === '' ? '' : `\n${style.plain(said)}`}`
        const got = await outbound.postJson(
          cipher.open(job.response_url, context),
          { response_type: 'in_channel', text },
          { headers: {}, maximumBytes: 1000, timeout: 10_000 },
        )
        if (!('status' in got) || got.status >= 300)
          log.warn({ pipeline: pipelineId }, 'a chat did not hear what its job said')
      }
      await store.forgetPipeline(db.writer, pipelineId)
    },
    { when: store.isExpected },
  )
}

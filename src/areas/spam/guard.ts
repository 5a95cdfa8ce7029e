import type { IncomingHttpHeaders } from 'node:http'
import { userOf, type Actor, type GroupSubject, type ProjectSubject, type User } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { needsCaptcha, type ApiError } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Captcha } from './captcha.ts'
import { SpamFilter, type FilterServices } from './filter.ts'
import { SpamServer } from './server.ts'
import * as store from './store.ts'
import { strictest, type Verdict } from './verdict.ts'

export type Kind = 'issue' | 'snippet' | 'comment'

/** A text that is about to be shown to everybody. */
export interface Content {
  readonly kind: Kind
  readonly title: string | null
  readonly text: string
  readonly author: User
  /** What it is said in; undefined: among the author's own things. */
  readonly place?: ProjectSubject | GroupSubject | undefined
  /** Of what is changed; undefined: it is new. */
  readonly before?: { readonly created_at: string; readonly updated_at: string } | undefined
  /** Paths of the files of a snippet. */
  readonly files?: readonly string[]
  readonly request: { readonly headers: IncomingHttpHeaders; readonly ip: string }
}

export interface GuardServices extends FilterServices {
  readonly db: Database
  readonly settings: Settings
  readonly captcha: Captcha
}

export type Said = Omit<Content, 'author'> & {
  readonly actor: Actor
  /** How the place words a refusal. */
  readonly refusal: (text: string) => ApiError
}

/** Keeps spam out of what everybody reads: who wants to say it nevertheless solves a captcha, where there is one. */
export class SpamGuard {
  readonly #services: GuardServices
  readonly #filter: SpamFilter
  readonly #server: SpamServer

  constructor(url: URL | undefined, services: GuardServices) {
    this.#services = services
    this.#filter = new SpamFilter(url, services)
    this.#server = new SpamServer(services)
  }

  /** Whether texts are looked at at all; until then nobody has to find out whether they are public. */
  get isOn(): boolean {
    return this.#filter.isAsked || this.#server.isAsked
  }

  /** Throws the refusal of a text that is taken for spam; before anything is written, since others are asked. */
  async check({ actor, refusal, ...said }: Said): Promise<void> {
    if (!this.isOn) return
    const content: Content = { ...said, author: userOf(actor) }
    if (await this.#isSolved(content)) return
    const verdict = await this.#verdict(content)
    if (verdict === 'allow') return
    const { db, settings, captcha } = this.#services
    const siteKey = verdict === 'captcha' && settings.values.recaptcha_enabled ? captcha.siteKey : undefined
    const id = await store.add(db.writer, content, siteKey !== undefined)
    const text = `Your ${content.kind} has been recognized as spam. Please, change the content`
    throw siteKey === undefined
      ? refusal(`${text} to proceed.`)
      : needsCaptcha({ spamLogId: id, siteKey, text: `${text} or solve the reCAPTCHA to proceed.` })
  }

  async #verdict(content: Content): Promise<Verdict> {
    const [filter, server] = [this.#filter, this.#server]
    return strictest(
      await Promise.all([
        filter.isAsked && filter.isSpam(content).then((spam) => (spam ? 'captcha' : 'allow')),
        server.isAsked && server.verdict(content),
      ]),
    )
  }

  /** Each refusal is answered once, by whom it was given. */
  async #isSolved({ kind, author, request }: Content): Promise<boolean> {
    const { db, settings, captcha } = this.#services
    const answer = request.headers['x-gitlab-captcha-response']
    const id = Number(request.headers['x-gitlab-spam-log-id'])
    if (!settings.values.recaptcha_enabled || typeof answer !== 'string' || !Number.isSafeInteger(id))
      return false
    const of = { id, userId: author.id, kind }
    if (!(await store.isOpen(db.reader, of))) return false
    return (await captcha.isSolved(answer, request.ip)) && (await store.solve(db.writer, of))
  }
}

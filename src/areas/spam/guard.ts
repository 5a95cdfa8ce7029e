import type { IncomingHttpHeaders } from 'node:http'
import { userOf, type Actor, type User } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { needsCaptcha, type ApiError } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Captcha } from './captcha.ts'
import { SpamFilter, type FilterServices } from './filter.ts'
import * as store from './store.ts'

export type Kind = 'issue' | 'snippet' | 'comment'

/** A text that is about to be shown to everybody. */
export interface Content {
  readonly kind: Kind
  readonly title: string | null
  readonly text: string
  readonly author: User
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

  constructor(url: URL | undefined, services: GuardServices) {
    this.#services = services
    this.#filter = new SpamFilter(url, services)
  }

  /** Whether texts are looked at at all; until then nobody has to find out whether they are public. */
  get isOn(): boolean {
    return this.#filter.isAsked
  }

  /** Throws the refusal of a text that is taken for spam; before anything is written, since others are asked. */
  async check({ actor, refusal, ...said }: Said): Promise<void> {
    if (!this.isOn) return
    const content: Content = { ...said, author: userOf(actor) }
    if (await this.#isSolved(content)) return
    if (!(await this.#filter.isSpam(content))) return
    const { db, settings, captcha } = this.#services
    const id = await store.add(db.writer, content)
    const text = `Your ${content.kind} has been recognized as spam. Please, change the content`
    const { siteKey } = captcha
    throw settings.values.recaptcha_enabled && siteKey !== undefined
      ? needsCaptcha({ spamLogId: id, siteKey, text: `${text} or solve the reCAPTCHA to proceed.` })
      : refusal(`${text} to proceed.`)
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

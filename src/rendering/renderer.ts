import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { LruMap } from '../kernel/lib/lru.ts'
import type { Logger } from '../kernel/log/index.ts'
import { includesOf, resolveInclude } from './languages/asciidoc-includes.ts'
import { renderPlain } from './languages/html.ts'
import { RenderFailure, WorkerPool, type Job, type PoolOptions, type Rendered } from './pool.ts'
import type { Candidate, Language, RenderInput, Resolved } from './types.ts'

/** What a text may need besides itself. */
export interface RenderHelp {
  /** What the references in it mean to the reader: one answer for all. Without it they stay text. */
  readonly resolve?: ((candidates: readonly Candidate[]) => Promise<Resolved>) | undefined
  /** A file that AsciiDoc includes, by path from the root. */
  readonly readFile?: ((path: string) => Promise<string | undefined>) | undefined
}

export interface RendererOptions extends Partial<PoolOptions> {
  /** Told of each text that was rendered, with the seconds that took; not of those that were kept. */
  readonly observe?: (language: Language, seconds: number) => void
}

/** Characters of a text that is rendered at all. */
const longestText = 10 * 1024 * 1024
/** Characters of HTML that are kept, and of sets of candidates. */
const keptHtml = 64 * 1024 * 1024
const keptCandidates = 100_000

const usual: PoolOptions = {
  workers: Math.min(2, availableParallelism()),
  timeLimit: 30_000,
  memory: 1024,
}

const nothing = async (): Promise<Resolved> => ({})

/**
 * Makes safe HTML of texts. What comes out depends on the input and on what its references mean, and is kept under
 * both; a reader who may see less gets another one. Never fails for what a text holds: one that takes too long is
 * shown as it is.
 */
export class Renderer implements AsyncDisposable {
  readonly #pool: WorkerPool
  readonly #log: Logger
  readonly #observe: RendererOptions['observe']
  readonly #html = new LruMap<string, string>(keptHtml)
  readonly #candidates = new LruMap<string, readonly Candidate[]>(keptCandidates)
  readonly #running = new Map<string, Promise<string>>()

  constructor(log: Logger, { observe, ...options }: RendererOptions = {}) {
    this.#log = log
    this.#observe = observe
    this.#pool = new WorkerPool({ ...usual, ...options })
  }

  async render(given: RenderInput, { resolve, readFile }: RenderHelp = {}): Promise<string> {
    if (given.text.length > longestText) return renderPlain(given.text)
    const input = readFile === undefined ? given : await withIncludes(given, readFile)
    const key = digest(input)
    if (resolve === undefined) return this.#kept(`${key}-`, input, {})
    const candidates = this.#candidates.get(key)
    if (candidates !== undefined) {
      const resolved = candidates.length === 0 ? {} : await resolve(candidates)
      return this.#kept(`${key}${digest(resolved)}`, input, resolved)
    }
    return this.#first(key, input, resolve)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]()
  }

  /** What its references mean is asked for while it is rendered. */
  async #first(
    key: string,
    input: RenderInput,
    resolve: (candidates: readonly Candidate[]) => Promise<Resolved>,
  ): Promise<string> {
    let found: Resolved = {}
    const job = {
      input,
      resolve: async (candidates: readonly Candidate[]) => (found = await resolve(candidates)),
    }
    try {
      const { html, candidates } = await this.#render(job)
      this.#candidates.set(key, candidates, candidates.length + 1)
      this.#html.set(`${key}${digest(found)}`, html, html.length + 100)
      return html
    } catch (error) {
      return this.#fallback(error, key, input)
    }
  }

  #kept(key: string, input: RenderInput, resolved: Resolved): Promise<string> {
    const kept = this.#html.get(key)
    if (kept !== undefined) return Promise.resolve(kept)
    let running = this.#running.get(key)
    if (running === undefined) {
      running = this.#render({ input, resolved, resolve: nothing })
        .then(({ html }) => html)
        .catch((error: unknown) => this.#fallback(error, key, input))
        .then((html) => {
          this.#html.set(key, html, html.length + 100)
          return html
        })
        .finally(() => this.#running.delete(key))
      this.#running.set(key, running)
    }
    return running
  }

  async #render(job: Job): Promise<Rendered> {
    const begin = performance.now()
    try {
      return await this.#pool.render(job)
    } finally {
      this.#observe?.(job.input.language, (performance.now() - begin) / 1000)
    }
  }

  #fallback(error: unknown, key: string, { text, language }: RenderInput): string {
    if (!(error instanceof RenderFailure)) throw error
    this.#log.warn(
      { reason: error.message, language, length: text.length, key },
      'a text is shown unrendered',
    )
    return renderPlain(text)
  }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/** Reads what the document includes, and what that includes, no more files than it may include at all. */
async function withIncludes(
  input: RenderInput,
  readFile: (path: string) => Promise<string | undefined>,
): Promise<RenderInput> {
  const limit = input.context.settings.asciidocMaxIncludes
  if (input.language !== 'asciidoc' || limit === 0) return input
  const folder = input.context.links?.folder ?? ''
  const includes: Record<string, string> = {}
  const queue = [input.text]
  for (let read = 0; queue.length > 0;) {
    for (const target of includesOf(queue.shift()!)) {
      const path = resolveInclude(folder, target)
      if (path === undefined || Object.hasOwn(includes, path)) continue
      if (read >= limit) return { ...input, context: { ...input.context, includes } }
      read += 1
      const content = await readFile(path)
      if (content === undefined) continue
      includes[path] = content
      queue.push(content)
    }
  }
  return { ...input, context: { ...input.context, includes } }
}

/**
 * How the core asks for what it does not have. A function that needs a file is a generator: it yields questions and
 * goes on with their answers, so it stays pure and the same code runs with answers that come at once or later.
 */

/** A commit of a project. */
export interface Origin {
  /** Full path. */
  project: string
  sha: string
}

export interface Questions {
  /** The first of these paths that is a file; `ref` is a branch, tag or commit, null the head of the default branch. */
  file: Place & { paths: string[] }
  remote: { url: string; cache: string | boolean | null }
  /** A file in the artifacts of a job of the parent pipeline. */
  artifact: { job: string; path: string }
  /** Tags of the project's published versions. */
  tags: { project: string; anonymous: boolean }
  /** Paths of all files. */
  tree: Place
  /** Paths changed since a ref; without one, by the push or merge request. */
  changes: { compareTo: string | null }
}

interface Place {
  project: string
  ref: string | null
  /** Asked by a file that speaks for nobody: only what everybody may see. */
  anonymous: boolean
}

export interface Answers {
  file: { origin: Origin; path: string; content: string | null } | { missing: 'project' | 'ref' }
  remote: { content: string } | RemoteFailure
  artifact: { content: string } | { missing: 'job' } | { failed: string }
  /** Null: no such project, or none that may be seen. */
  tags: string[] | null
  tree: string[] | null
  /** `paths` null: there is nothing to compare with. */
  changes: { paths: string[] | null } | { missing: 'ref' }
}

export type RemoteFailure =
  { status: number; attempts: number } | { failed: 'socket' | 'timeout' | 'http' } | { blocked: string }

export type Kind = keyof Questions
export type Question = { [K in Kind]: { kind: K; about: Questions[K] } }[Kind]

/** What the shell around the core implements: one look-up for each kind of question. Rejects only for its own faults. */
export type ConfigSources = { [K in Kind]: (about: Questions[K]) => Answers[K] | Promise<Answers[K]> }
/** The same with everything at hand. */
export type ReadySources = { [K in Kind]: (about: Questions[K]) => Answers[K] }

export type Asking<T> = Generator<Question[], T, unknown[]>

export function* ask<K extends Kind>(kind: K, about: Questions[K]): Asking<Answers[K]> {
  const [answer] = yield [{ kind, about } as Question]
  return answer as Answers[K]
}

/** Runs several side by side, so that their questions are asked at one time. */
export function* together<T>(askings: readonly Asking<T>[]): Asking<T[]> {
  const running = askings.map((asking) => ({ asking, step: asking.next() }))
  for (;;) {
    const questions = running.flatMap(({ step }) => (step.done === true ? [] : step.value))
    if (questions.length === 0) return running.map(({ step }) => step.value as T)
    const answers = yield questions
    let at = 0
    for (const one of running) {
      if (one.step.done === true) continue
      const count = one.step.value.length
      one.step = one.asking.next(answers.slice(at, (at += count)))
    }
  }
}

/** Leads the conversation to its end; each round of questions is put at the same time. */
export async function converse<T>(asking: Asking<T>, sources: ConfigSources): Promise<T> {
  let step = asking.next()
  while (step.done !== true) {
    step = asking.next(await Promise.all(step.value.map((question) => put(question, sources))))
  }
  return step.value
}

export function converseAtOnce<T>(asking: Asking<T>, sources: ReadySources): T {
  let step = asking.next()
  while (step.done !== true) step = asking.next(step.value.map((question) => put(question, sources)))
  return step.value
}

function put<K extends Kind>(question: { kind: K; about: Questions[K] }, sources: ConfigSources): unknown {
  return sources[question.kind](question.about)
}

/** Sources that have nothing. */
export const noSources: ReadySources = {
  file: () => ({ missing: 'project' }),
  remote: () => ({ failed: 'http' }),
  artifact: () => ({ missing: 'job' }),
  tags: () => null,
  tree: () => null,
  changes: () => ({ paths: null }),
}

import { start, type GitProcess, type Workplace } from './run.ts'
import { GitError } from './git-error.ts'
import type { Oid } from './parse.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export interface ObjectHeader {
  readonly oid: Oid
  readonly type: ObjectType
  /** Bytes. */
  readonly size: number
}

export interface ObjectAnswer extends ObjectHeader {
  /** Empty for a question about the header only. */
  readonly content: Buffer
}

export interface Question {
  readonly command: 'info' | 'contents'
  /** What git is asked for: a revision, perhaps with `:path`. Holds no NUL. */
  readonly name: string
  /** Larger contents are thrown away and the question rejected. */
  readonly limit: number
  readonly resolve: (answer: ObjectAnswer | undefined) => void
  readonly reject: (error: unknown) => void
}

const header = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)$/
const newline = 0x0a

/**
 * One `git cat-file --batch-command`, answering questions in their order. They may be asked without waiting.
 * When git dies, the first open question is rejected (it may be the cause) and the others are handed to `orphaned`.
 */
export class BatchProcess {
  readonly #git: GitProcess
  readonly #questions: Question[] = []
  #chunks: Buffer[] = []
  #buffered = 0
  /** Bytes that must be there before it is worth looking again. */
  #wanted = 1
  #current: ObjectHeader | undefined
  #skipping = 0

  constructor(place: Workplace, orphaned: (questions: Question[]) => void) {
    this.#git = start(place, 'cat-file', { flags: ['--batch-command', '-z'] })
    this.#git.stdout.on('data', (chunk: Buffer) => this.#feed(chunk))
    this.#git.exit.then(
      (code) => this.#ended(code, undefined, orphaned),
      (cause: unknown) => this.#ended(undefined, cause, orphaned),
    )
  }

  get busy(): boolean {
    return this.#questions.length > 0
  }

  ask(question: Question): void {
    this.#questions.push(question)
    this.#git.stdin.write(`${question.command} ${question.name}\0`)
  }

  /** Lets the open questions be answered, then ends. */
  async close(): Promise<void> {
    this.#git.stdin.end()
    await this.#git.exit.catch(() => undefined)
  }

  #ended(exitCode: number | undefined, cause: unknown, orphaned: (questions: Question[]) => void): void {
    const [first, ...others] = this.#questions.splice(0)
    first?.reject(
      new GitError('failed', 'git cat-file ended', { exitCode, cause, stderr: this.#git.stderr() }),
    )
    orphaned(others)
  }

  #feed(chunk: Buffer): void {
    if (this.#skipping > 0) {
      const dropped = Math.min(this.#skipping, chunk.length)
      this.#skipping -= dropped
      chunk = chunk.subarray(dropped)
    }
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#buffered += chunk.length
    if (this.#buffered >= this.#wanted) this.#parse()
  }

  #parse(): void {
    let data = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#wanted = 1
    while (data.length > 0 && this.#wanted === 1) {
      data = data.subarray(this.#current === undefined ? this.#header(data) : this.#body(data, this.#current))
    }
    this.#chunks = data.length === 0 ? [] : [data]
    this.#buffered = data.length
  }

  /** Reads the line that starts an answer; returns how many bytes are done with. */
  #header(data: Buffer): number {
    const question = this.#questions[0]
    if (question === undefined) return data.length
    const end = data.indexOf(newline)
    if (end < 0) {
      this.#wanted = data.length + 1
      return 0
    }
    const found = header.exec(data.toString('latin1', 0, end))
    if (found === null) return this.#missing(question, data, end)
    const [, oid, type, size] = found as unknown as [string, Oid, ObjectType, string]
    const answer = { oid, type, size: Number(size) }
    if (question.command === 'info') {
      this.#questions.shift()
      question.resolve({ ...answer, content: Buffer.alloc(0) })
    } else if (answer.size > question.limit) {
      this.#questions.shift()
      question.reject(new GitError('too-large', 'the object is too large to be kept in memory'))
      const dropped = Math.min(data.length, end + 1 + answer.size + 1)
      this.#skipping = end + 1 + answer.size + 1 - dropped
      return dropped
    } else {
      this.#current = answer
    }
    return end + 1
  }

  /** `<name> missing`: git repeats the name, and a path in it may hold line breaks. */
  #missing(question: Question, data: Buffer, end: number): number {
    const breaks = question.name.split('\n').length - 1
    let last = end
    for (let i = 0; i < breaks && last >= 0; i++) last = data.indexOf(newline, last + 1)
    if (last < 0) {
      this.#wanted = data.length + 1
      return 0
    }
    this.#questions.shift()
    question.resolve(undefined)
    return last + 1
  }

  #body(data: Buffer, current: ObjectHeader): number {
    if (data.length < current.size + 1) {
      this.#wanted = current.size + 1
      return 0
    }
    this.#current = undefined
    // A copy, so that a small object does not keep a large chunk alive.
    this.#questions.shift()?.resolve({ ...current, content: Buffer.from(data.subarray(0, current.size)) })
    return current.size + 1
  }
}

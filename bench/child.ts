import { fork, type ChildProcess } from 'node:child_process'

interface Call {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}

interface Reply {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** Functions that a child process offers; arguments and results are plain data. */
export type Handlers = Readonly<Record<string, (argument: never) => Promise<unknown>>>

/** A process of our own that answers calls. It ends with us, whatever ends us. */
export class Child<Offered extends Handlers> implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #next = 0

  constructor(file: URL) {
    this.#process = fork(file, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' })
    this.#process.on('message', (message) => {
      const { id, result, error } = message as Reply
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(result)
      else waiting?.reject(new Error(error))
    })
    this.#process.on('exit', () => {
      for (const waiting of this.#waiting.values()) waiting.reject(new Error(`${file.pathname} has ended`))
      this.#waiting.clear()
    })
  }

  call<Name extends keyof Offered & string>(
    name: Name,
    argument: Parameters<Offered[Name]>[0],
  ): Promise<Awaited<ReturnType<Offered[Name]>>> {
    const id = (this.#next += 1)
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#process.send({ id, name, argument } satisfies Call, (error) => {
      if (error !== null) waiting.reject(error)
    })
    return waiting.promise as Promise<Awaited<ReturnType<Offered[Name]>>>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill('SIGKILL')
    await ended
  }
}

/** The child's side: answers the calls of the process that started it. */
export function offer(handlers: Handlers): void {
  // Ctrl-C reaches the whole group of processes; the parent decides when it is over.
  process.on('SIGINT', () => undefined)
  process.on('disconnect', () => process.exit(0))
  process.on('message', (message) => {
    const { id, name, argument } = message as Call
    const answer = (reply: Omit<Reply, 'id'>): void => {
      process.send?.({ id, ...reply } satisfies Reply)
    }
    const handler = handlers[name]
    if (handler === undefined) throw new Error(`there is no ${name}`)
    handler(argument as never).then(
      (result) => answer({ result }),
      (error: unknown) => answer({ error: String(error) }),
    )
  })
}

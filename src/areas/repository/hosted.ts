import type { Readable, Writable } from 'node:stream'
import type { Actor } from '../../access/index.ts'
import type { PushResult, Repository } from '../../git/index.ts'

/** How a push is taken in. */
export interface Receiving {
  readonly signal?: AbortSignal
  /** Stands before every refusal. */
  readonly messagePrefix: string
  /** Bytes. */
  readonly maxPackSize?: number
  /** Lines for the user once refs have moved. */
  readonly afterwards?: () => Promise<readonly string[]>
}

/** A repository as git clients meet it, whatever transport they come by. Access is decided before. */
export interface Hosted {
  readonly refsVersion: number
  open(): Promise<Repository>
  receive(actor: Actor, input: Readable, output: Writable, options: Receiving): Promise<PushResult>
}

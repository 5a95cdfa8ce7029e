import { spawn, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import path from 'node:path'
import { streamHeader, type Order, type Report } from './starter-messages.ts'

/*
 * The process that starts git for the service: small, for a fork copies the page tables of whoever forks, and one of its
 * own, so that nothing else waits meanwhile. Git's standard streams are connections of the service that are handed on as
 * they are: no byte of theirs passes through here. It ends with the service.
 */

/** A start of which not all has arrived. */
interface Pending {
  order?: Extract<Order, { program: string }>
  /** Standard input, output and error. */
  readonly streams: [Socket?, Socket?, Socket?]
  killed: boolean
}

const pending = new Map<number, Pending>()
const running = new Map<number, ChildProcess>()
const address = process.argv[2]!

function pendingOf(id: number): Pending {
  const found = pending.get(id) ?? { streams: [], killed: false }
  pending.set(id, found)
  return found
}

function report(message: Report): void {
  if (process.connected) process.send!(message)
}

function startWhenComplete(id: number): void {
  const { order, streams, killed } = pendingOf(id)
  const [input, output, error] = streams
  if (order === undefined || input === undefined || output === undefined || error === undefined) return
  pending.delete(id)
  const stdio = [input, output, error]
  const child = spawn(order.program, order.args, { cwd: '/', env: order.env, stdio })
  // The program has them now.
  for (const stream of stdio) stream.destroy()
  child.once('error', (failure: NodeJS.ErrnoException) => {
    if (child.pid === undefined) report({ id, failed: failure.code ?? failure.message })
  })
  if (child.pid === undefined) return
  running.set(id, child)
  if (killed) child.kill()
  report({ id, started: true })
  child.once('exit', (code, signal) => {
    running.delete(id)
    report({ id, code, signal })
  })
}

function take(order: Order): void {
  if ('program' in order) {
    pendingOf(order.id).order = order
    startWhenComplete(order.id)
  } else {
    const waiting = pending.get(order.id)
    if (waiting !== undefined) waiting.killed = true
    running.get(order.id)?.kill()
  }
}

/** Connections that wait to be taken: three for each program. With more, connecting fails. */
const backlog = 4096

function leave(): void {
  rmSync(path.dirname(address), { recursive: true, force: true })
  process.exit()
}

process.on('message', take)
process.on('disconnect', leave)
if (!process.connected) leave()
// Who stops the service from a terminal means us too, but what is under way still needs git.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

createServer((stream) => {
  // The service is gone, or wants nothing any more.
  stream.on('error', () => undefined)
  stream.once('data', (header: Buffer) => {
    stream.pause()
    const { id, at } = streamHeader.read(header)
    pendingOf(id).streams[at] = stream
    startWhenComplete(id)
  })
}).listen({ path: address, backlog }, () => report({ listening: true }))

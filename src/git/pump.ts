import type { Writable } from 'node:stream'

/**
 * Writes `chunks` into a process with back-pressure, and ends its input. Stops early, without an error, when the
 * process is done before they are. Resolves to the bytes that were written.
 */
export async function pump(
  chunks: AsyncIterator<Buffer, unknown, undefined>,
  target: Writable,
  exit: Promise<unknown>,
): Promise<number> {
  // One waker for all rounds: racing every chunk against `exit` would keep each of them alive until the exit.
  const process = { over: false }
  let wake: () => void = () => undefined
  const end = () => {
    process.over = true
    wake()
  }
  exit.then(end, end)
  const orEnd = <T>(wait: (resolve: (value: T) => void, reject: (error: unknown) => void) => void) =>
    new Promise<T | undefined>((resolve, reject) => {
      wake = () => resolve(undefined)
      wait(resolve, reject)
    })

  let written = 0
  try {
    while (!process.over) {
      const next = await orEnd<IteratorResult<Buffer, unknown>>((resolve, reject) => {
        chunks.next().then(resolve, reject)
      })
      if (next === undefined || next.done === true) break
      written += next.value.length
      if (!target.write(next.value) && !target.destroyed) {
        await orEnd<undefined>((resolve) => {
          const go = () => {
            target.off('drain', go).off('close', go)
            resolve(undefined)
          }
          target.once('drain', go).once('close', go)
        })
      }
    }
  } finally {
    target.end()
  }
  return written
}

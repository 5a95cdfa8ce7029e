import childProcess from 'node:child_process'
import { readFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import pg from 'pg'

/*
 * Loaded into a service before all else (`--import`). As soon as there is a number in the file CRASH_FILE, the service
 * kills itself at that step from then on: just before it starts git, renames a file, or sends a statement that writes.
 * With CRASH_AT it kills itself just before it sends a statement that has these words.
 */

const file = process.env['CRASH_FILE']
const words = process.env['CRASH_AT']
let step = 0

function pass(): void {
  let last: number
  try {
    last = Number(readFileSync(file!, 'utf8'))
  } catch {
    step = 0
    return
  }
  step += 1
  if (step === last) process.kill(process.pid, 'SIGKILL')
}

/** Has something look at each statement before it is sent. */
function watch(look: (text: string) => void): void {
  const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown }
  const { query } = prototype
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [first] = args
    look(typeof first === 'string' ? first : ((first as { text?: string } | undefined)?.text ?? ''))
    return query.apply(this, args)
  }
}

if (words !== undefined) {
  watch((text) => {
    if (text.includes(words)) process.kill(process.pid, 'SIGKILL')
  })
}

if (file !== undefined) {
  // Git is started by a process that is told to.
  const { fork } = childProcess
  childProcess.fork = ((...args: Parameters<typeof fork>) => {
    const child = fork(...args)
    const send = child.send.bind(child) as (...all: unknown[]) => boolean
    child.send = (...all: unknown[]) => {
      const [order] = all
      if (typeof order === 'object' && order !== null && 'program' in order) pass()
      return send(...all)
    }
    return child
  }) as typeof fork
  const { rename } = promises
  promises.rename = (...args) => {
    pass()
    return rename(...args)
  }
  syncBuiltinESMExports()

  watch((text) => {
    if (/ref_updates|update (?:projects|merge_requests)|insert into events|\bcommit\b/i.test(text)) pass()
  })
}

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** The first line of standard input, if there is one. At a terminal it is asked for, and is not shown. */
export async function readSecretLine(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: stdin.isTTY })
  try {
    for await (const line of lines) return line
    return undefined
  } finally {
    lines.close()
    if (stdin.isTTY) stderr.write('\n')
  }
}

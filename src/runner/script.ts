import { randomUUID } from 'node:crypto'
import { constants, openSync, unlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'

const green = '\x1b[32;1m'
const reset = '\x1b[0;m'

/** Any text as one word of the shell. */
export function quote(text: string) {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`
}

export function say(text: string) {
  return `printf '%s\\n' ${quote(text)}`
}

export function sayGreen(text: string) {
  return say(green + text + reset)
}

/** Each command is shown, then run; the first that fails ends the script with its exit code. */
export function userScript(commands: string[], options: { trace?: boolean } = {}) {
  const lines = options.trace === true ? ['set -o xtrace'] : []
  for (const command of commands) {
    const [first = '', ...more] = command.trimEnd().split('\n')
    const note = more.length > 0 ? ' # collapsed multi-line command' : ''
    lines.push(sayGreen(`$ ${first}${note}`), command)
  }
  return lines.join('\n')
}

// A single text of an environment may hold 128 KiB (MAX_ARG_STRLEN), all together an eighth of the stack at least.
const longest = 96 * 1024
const most = 768 * 1024

/**
 * Splits variables into an environment the system can pass on and assignments for the shell: those that do not fit
 * stay readable for the script, but no program it starts gets them.
 */
export function fitEnvironment(variables: Record<string, string>) {
  const environment: Record<string, string> = {}
  const assignments: string[] = []
  let size = 0
  for (const [key, value] of Object.entries(variables)) {
    const length = key.length + Buffer.byteLength(value)
    if (length <= longest && size + length <= most) {
      environment[key] = value
      size += length
    } else if (/^[A-Za-z_]\w*$/.test(key)) {
      assignments.push(`${key}=${quote(value)}`)
    }
  }
  return { environment, assignments }
}

/**
 * The script as the shell's standard input: a file without a name, readable by the shell alone. It is one `eval`, so
 * that the commands themselves read nothing from it. Close the descriptor once the shell has started.
 */
export async function openScript(
  folder: string,
  shell: string,
  body: string,
  assignments: string[] = [],
): Promise<number> {
  const strict = shell.endsWith('/bash') ? 'set -eo pipefail' : 'set -e'
  const text = [strict, 'set +o noclobber', ...assignments, body].join('\n')
  const file = path.join(folder, `script-${randomUUID()}`)
  await writeFile(file, `eval ${quote(text)} </dev/null\n`, { flag: 'wx', mode: 0o600 })
  const descriptor = openSync(file, constants.O_RDONLY)
  unlinkSync(file)
  return descriptor
}

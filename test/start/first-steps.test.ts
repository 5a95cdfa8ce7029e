import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freePort, Program, temporaryFolder } from './process.ts'

const run = promisify(execFile)

/** The commands of one section of the README, as they stand there. */
async function commandsOf(section: string): Promise<string[]> {
  const readme = await readFile(path.resolve(import.meta.dirname, '../../README.md'), 'utf8')
  const text = readme.split(`\n## ${section}\n`)[1]!.split('\n## ')[0]!
  return [...text.matchAll(/```sh\n(.*?)\n```/gs)].map((match) => match[1]!)
}

test(
  'the first steps of the README end with a pipeline in success and a masked log',
  { timeout: 300_000 },
  async () => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    await using program = new Program(['serve'], {
      PORT: String(port),
      DATA_DIR: path.join(folder.path, 'data'),
    })
    await program.ready(url)
    await expect.poll(() => program.output, { timeout: 20_000 }).toContain('shown this once')
    const token = /shown this once: (\S+)/.exec(program.output)![1]!

    const [first, ...steps] = await commandsOf('First steps')
    expect(first).toMatch(/^export GUILDHALL=http:\/\/127\.0\.0\.1:8080 TOKEN=\S+$/)
    expect(steps.length).toBeGreaterThanOrEqual(8)
    // One shell, as a person pastes them; between two steps a mark, so that each one's output can be looked at.
    const script = [
      `export GUILDHALL=${url} TOKEN=${token}`,
      ...steps.flatMap((step) => [step, 'echo; echo "== exit $?"']),
    ].join('\n')
    const { stdout, stderr } = await run('bash', ['-c', script], {
      cwd: folder.path,
      env: { PATH: process.env['PATH'], HOME: folder.path, GIT_TERMINAL_PROMPT: '0' },
      timeout: 90_000,
    })
    const outputs = stdout.split(/\n== exit \d+\n/)
    expect(outputs.at(-3)).toContain('"status":"success"')
    const log = outputs.at(-2)!
    expect(log).toContain('Hello, the password is [MASKED]')
    expect(log).toContain('Job succeeded')
    expect(log).not.toContain('opensesame')
    expect(stderr).toContain('main -> main')
  },
)

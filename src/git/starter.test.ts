import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { Starter, type Started } from './starter.ts'

const starter = new Starter()
afterAll(() => starter[Symbol.asyncDispose]())

const env = { PATH: process.env['PATH'] ?? '' }
const shell = (script: string): Started => starter.start('sh', ['-c', script], env)

/** Its output, its complaints and how it ended. */
async function outcome(program: Started): Promise<[string, string, unknown]> {
  return Promise.all([text(program.stdout), text(program.stderr), program.exit])
}

test('a program has the streams, the arguments and the environment that it is given', async () => {
  const program = starter.start(
    'sh',
    ['-c', 'read line; echo "$line $0 $ONE"; echo no >&2; exit 3', 'zero'],
    {
      ...env,
      ONE: '1',
    },
  )
  program.stdin.end('a line\n')
  expect(await outcome(program)).toEqual(['a line zero 1\n', 'no\n', { code: 3, signal: null }])
})

test('what goes in at once, before it has started, comes out whole', async () => {
  const bytes = randomBytes(3_000_000)
  const program = starter.start('cat', [], env)
  program.stdin.end(bytes)
  program.stderr.resume()
  expect((await buffer(program.stdout)).equals(bytes)).toBe(true)
  expect(await program.exit).toMatchObject({ code: 0 })
})

test('hundreds at once each have their own streams', async () => {
  const all = await Promise.all(
    Array.from({ length: 500 }, async (_, at) => {
      const program = starter.start('cat', [], env)
      program.stdin.end(String(at))
      return (await outcome(program))[0]
    }),
  )
  expect(all).toEqual(Array.from({ length: 500 }, (_, at) => String(at)))
})

test('its standard streams block, as programs expect that write without asking', async () => {
  const program = shell(
    `${process.execPath} -e 'process.stdout.write("x".repeat(1e6))'; yes | head -c 500000`,
  )
  program.stdin.end()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect((await outcome(program))[0]).toHaveLength(1_500_000)
})

test('one that reads nothing ends in order, and its input breaks', async () => {
  const program = shell('exit 0')
  program.stdin.on('error', () => undefined)
  program.stdin.write(Buffer.alloc(1_000_000))
  expect(await outcome(program)).toEqual(['', '', expect.objectContaining({ code: 0 })])
  expect(program.stdin.destroyed).toBe(true)
})

test('it is killed, before it runs and while it does', async () => {
  // Without `exec` the shell may have started one that keeps the output open when the shell itself is killed.
  const early = shell('exec sleep 100')
  early.kill()
  expect((await outcome(early))[2]).toMatchObject({ code: null, signal: 'SIGTERM' })
  const late = starter.start('sh', ['-c', 'echo runs; exec sleep 100'], env)
  await new Promise((resolve) => late.stdout.once('data', resolve))
  late.kill()
  expect((await outcome(late))[2]).toMatchObject({ code: null, signal: 'SIGTERM' })
})

test('a program that is not there says so', async () => {
  const program = starter.start('there-is-no-such-program', [], env)
  await expect(program.exit).rejects.toMatchObject({ code: 'ENOENT' })
})

test('when the starter dies what it ran fails, and the next program has a new one', async () => {
  const own = new Starter()
  const program = own.start('sh', ['-c', 'echo $PPID; exec sleep 3'], env)
  const parent = await new Promise<string>((resolve) =>
    program.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
  )
  process.kill(Number(parent), 'SIGKILL')
  await expect(program.exit).rejects.toThrow('the starter ended')
  const next = own.start('sh', ['-c', 'echo $PPID'], env)
  const [other] = await outcome(next)
  expect(other.trim()).not.toBe(parent)
  await own[Symbol.asyncDispose]()
  expect(() => execFileSync('kill', ['-0', other.trim()], { stdio: 'ignore' })).toThrow()
})

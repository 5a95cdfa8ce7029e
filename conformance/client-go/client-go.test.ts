import { spawn } from 'node:child_process'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cast } from '../../test/house/grid/actors.ts'
import { playOnce } from '../../test/house/grid/play.ts'
import { readGrids, type Row } from '../../test/house/grid/rows.ts'
import { Stages } from '../../test/house/grid/stage.ts'
import { startGridWorld } from '../../test/house/grid/world.ts'
import type { World } from '../../test/world/world.ts'

/*
 * Go programs read answers into structures of fixed types, where a number that came as a string is an error. Every row
 * of the permission grid that somebody may call is called once, and the client's own methods decode what was answered.
 */

interface Answer extends Pick<Row, 'method' | 'path'> {
  readonly status: number
  readonly text: string
}

/** What the client could not read, or at the end what it read. */
type Told = { readonly method: string; readonly error: string } | { readonly methods: number }

/** What the specification has otherwise than the client. */
const otherwise = [
  // Strings with thousands separators.
  'ApplicationStatistics.GetApplicationStatistics',
  // `polling_interval_multiplier` is a number.
  'Settings.GetSettings',
  'Settings.UpdateSettings',
  // 201.
  'Users.RejectUser',
]

/** What is found depends on `scope`, which the client puts into the query: one answer does not fit all its methods. */
const ambiguous = new Set(['/search', '/groups/:id/search', '/projects/:id/search'])

let world: World
beforeAll(async () => {
  world = await startGridWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('the Go client reads every answer', { timeout: 600_000 }, async () => {
  const answers = await playAll()
  expect(answers.length).toBeGreaterThan(1_500)
  const told = await decode(answers)
  const wrong = told.filter((one) => 'error' in one)
  const unexpected = wrong.filter(({ method }) => !otherwise.includes(method))
  expect(unexpected).toEqual([])
  expect(wrong.map(({ method }) => method)).toEqual(otherwise)
  expect(told.at(-1)).toMatchObject({ methods: expect.toSatisfy((count: number) => count > 850) })
})

async function playAll(): Promise<Answer[]> {
  const cast = await Cast.make(world)
  const stages = new Stages(cast)
  const answers: Answer[] = []
  for (const row of readGrids().filter(({ path: address }) => !ambiguous.has(address))) {
    const who = (['owner', 'admin'] as const).find((name) => row.expected[name] < 300)
    const caller = who && cast.callersOf(row).find(({ name }) => name === who)
    if (caller === undefined) continue
    const { status, text: body } = await playOnce(row, stages, caller)
    // What is not as the grid says is for its own suite to tell.
    if (status < 300) answers.push({ method: row.method, path: row.path, status, text: body })
  }
  return answers
}

async function decode(answers: readonly Answer[]): Promise<Told[]> {
  const child = spawn('go', ['run', '.'], { cwd: path.join(import.meta.dirname, 'decode') })
  child.stdin.end(JSON.stringify(answers))
  const [output, complaints, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve)),
  ])
  expect(code, complaints).toBe(0)
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Told)
}

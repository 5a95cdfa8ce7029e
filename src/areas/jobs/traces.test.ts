import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Traces } from './traces.ts'

let directory: string
let traces: Traces
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'traces-'))
  traces = new Traces(directory)
})
afterEach(() => rm(directory, { recursive: true }))

async function log(options?: { last: number }): Promise<string> {
  const found = await traces.read(7, options)
  return found === undefined ? '' : text(found.content)
}

test('a piece is taken only where the log ends', async () => {
  expect(await traces.append(7, 0, Buffer.from('one '))).toEqual({ size: 4, taken: true })
  expect(await traces.append(7, 0, Buffer.from('one '))).toEqual({ size: 4, taken: false })
  expect(await traces.append(7, 9, Buffer.from('gap'))).toEqual({ size: 4, taken: false })
  expect(await traces.append(7, 4, Buffer.from('two'))).toEqual({ size: 7, taken: true })
  expect(await log()).toBe('one two')
  expect(await log({ last: 3 })).toBe('two')
})

test('the same piece sent twice at once is there once', async () => {
  await Promise.all([1, 2, 3].map(() => traces.append(7, 0, Buffer.from('piece'))))
  expect(await log()).toBe('piece')
})

test('a sign of life is kept without a log', async () => {
  expect(await traces.lastSign(7)).toBeUndefined()
  await traces.touch(7)
  expect(Date.now() - (await traces.lastSign(7))!.getTime()).toBeLessThan(5000)
  expect(await traces.size(7)).toBe(0)
  expect(await traces.read(7)).toBeUndefined()
})

test('a log that is watched is asked for more often', async () => {
  expect(traces.interval(7)).toBe(60)
  traces.watch(7)
  expect(traces.interval(7)).toBe(3)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'

let world: World
let copies: Copies
beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

test('what one pushes another clones', async () => {
  const project = await world.project()
  const folder = await copies.filled(project)
  const clone = await copies.clone(project, world.root)
  expect(await git(clone, 'rev-parse', 'HEAD')).toBe(await git(folder, 'rev-parse', 'HEAD'))
})

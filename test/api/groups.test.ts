import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('smoke', async () => {
  const g = await world.group({ visibility: 'public' })
  console.log(g)
  console.log((await world.root.get(`/groups/${g['id']}`)).text)
  const p = await world.project({ initialize_with_readme: true, topics: 'b,a', visibility: 'public' })
  console.log((await world.root.get(`/projects/${p['id']}`)).text)
  console.log((await world.anonymous.get(`/projects/${p['id']}`)).text)
  console.log((await world.root.post(`/projects`, { name: 'x y' })).text)
  expect(1).toBe(1)
})

import { expectStatus, type Json, type World } from '../world/world.ts'

/** Sets settings over the API for the time of some work, and all of them back to what they were. */
export async function during(world: World, values: Json, work: () => Promise<void>): Promise<void> {
  const { settings } = world.service.services
  const before = settings.values
  await set(world, values)
  try {
    await work()
  } finally {
    await settings.change(before)
  }
}

export async function set(world: World, values: Json): Promise<Json> {
  return expectStatus(await world.root.put('/application/settings', values), 200)
}

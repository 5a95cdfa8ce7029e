import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { World } from '../../world/world.ts'
import { Cast } from './actors.ts'
import { play } from './play.ts'
import { actorNames, nameOf, shapeOf, type Row } from './rows.ts'
import { Stages } from './stage.ts'
import { startGridWorld } from './world.ts'

/** Declares a test for each of these rows: it is called as every actor. They have a world of their own. */
export function playRows(rows: readonly Row[]): {
  readonly world: () => World
  readonly served: () => Set<string>
} {
  let world: World
  let cast: Cast
  let stages: Stages
  let served: Set<string>

  beforeAll(async () => {
    world = await startGridWorld()
    served = new Set(
      world.service.registry.routes.map(({ endpoint }) => shapeOf(endpoint.method, endpoint.path)),
    )
    cast = await Cast.make(world)
    stages = new Stages(cast)
    await Promise.all(
      (['public', 'internal', 'private'] as const).flatMap((visibility) => [
        stages.shared(visibility, 'project'),
        stages.shared(visibility, 'group'),
      ]),
    )
    await cast.block()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  describe('permission grid', () => {
    test.for(rows.map((row) => [nameOf(row), row] as const))('%s', async ([, row], { skip }) => {
      if (!served.has(shapeOf(row.method, row.path))) skip('waits for its endpoint')
      const { statuses, replies } = await play(row, { cast, stages })
      const wrong = actorNames.filter((name) => statuses[name] !== row.expected[name])
      const answers = wrong.map((name) => `${name}: ${replies[name].text.slice(0, 200)}`).join('\n')
      expect(statuses, `${row.place}\n${answers}`).toEqual(row.expected)
    })
  })
  return { world: () => world, served: () => served }
}

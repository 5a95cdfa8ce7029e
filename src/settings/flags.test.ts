import { describe, expect, test } from 'vitest'
import { isOn, stateOf, type FlagActor, type Gates } from './flags.ts'

const flag = 'ci_inputs_for_pipelines'

test.each<[Gates | undefined, FlagActor[], number, boolean]>([
  [undefined, [], 0, false],
  [{ boolean: true }, [], 99, true],
  [{ boolean: false }, [], 0, false],
  [{ actors: ['Project:7'] }, ['User:7'], 0, false],
  [{ actors: ['Project:7'] }, ['User:1', 'Project:7'], 99, true],
  [{ percentage_of_time: 50 }, [], 49, true],
  [{ percentage_of_time: 50 }, [], 50, false],
  [{ percentage_of_actors: 100 }, ['User:1'], 99, true],
  [{ percentage_of_actors: 100 }, [], 99, false],
])('%j for %j at %d: %s', (gates, actors, chance, on) => {
  expect(isOn(flag, gates, actors, chance)).toBe(on)
})

describe('a share of actors', () => {
  const actors = Array.from({ length: 1000 }, (_, id): FlagActor => `User:${id}`)
  const having = (percentage_of_actors: number) =>
    actors.filter((actor) => isOn(flag, { percentage_of_actors }, [actor], 100))

  test('is about as many as it says, and keeps those it has when it grows', () => {
    expect(having(25).length).toBeGreaterThan(200)
    expect(having(25).length).toBeLessThan(300)
    expect(having(50)).toEqual(expect.arrayContaining(having(25)))
  })
})

test.each<[Gates, string]>([
  [{}, 'off'],
  [{ boolean: true, actors: ['User:1'] }, 'on'],
  [{ boolean: false, percentage_of_actors: 10 }, 'conditional'],
  [{ actors: [] }, 'off'],
])('%j is %s', (gates, state) => expect(stateOf(gates)).toBe(state))

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createInternalRef } from './create-ref.ts'
import type { Oid, RefName } from './parse.ts'
import { git, openWorld, type World } from './testing.ts'

let world: World
let oid: Oid
beforeEach(async () => {
  world = await openWorld()
  const copy = await world.clone('a')
  await world.commit(copy, 'one')
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:main')
  oid = (await git(copy, 'rev-parse', 'HEAD')) as Oid
})
afterEach(async () => {
  await world[Symbol.asyncDispose]()
})

const ref = 'refs/pipelines/7' as RefName
const bare = (...words: string[]) => git(world.repository.path, ...words)

test('git takes it for its own, packs it and deletes it', async () => {
  expect(await createInternalRef(world.repository, ref, oid)).toBe(true)
  expect(await bare('rev-parse', ref)).toBe(oid)
  await bare('pack-refs', '--all')
  await bare('update-ref', '-d', ref, oid)
  expect(await createInternalRef(world.repository, ref, oid)).toBe(true)
  expect(await bare('for-each-ref', '--format=%(refname)')).toBe(`refs/heads/main\n${ref}`)
})

test('at once it is made once, and not while it is locked', async () => {
  const made = await Promise.all([1, 2, 3].map(() => createInternalRef(world.repository, ref, oid)))
  expect(made.filter(Boolean)).toHaveLength(1)
  await rm(join(world.repository.path, ref))
  await writeFile(join(world.repository.path, `${ref}.lock`), '')
  expect(await createInternalRef(world.repository, ref, oid)).toBe(false)
})

test('it is of the service', async () => {
  await expect(createInternalRef(world.repository, 'refs/heads/x' as RefName, oid)).rejects.toThrow(
    'the ref is not one of the service',
  )
})

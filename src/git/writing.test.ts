import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as room from './index.ts'
import { git, openWorld, type World } from './testing.ts'

let world: World
let repo: room.Repository
beforeAll(async () => {
  world = await openWorld()
  repo = world.repository
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const file = (text: string) => room.parseFilePath(text)!
const who = { name: 'Ada', email: 'ada@example.com', date: new Date('2024-01-01T00:00:00Z'), offset: 60 }

async function commit(branch: string, actions: room.FileAction[], start?: room.Oid): Promise<room.Oid> {
  const request = {
    branch: room.branchRef(branch)!,
    actions,
    author: who,
    committer: who,
    message: 'Change',
    start,
  }
  await using change = await room.commitFiles(repo, request)
  const outcome = await room.updateRefs(repo, change.updates, {
    from: 'service',
    guard: room.allowAll,
    journal: world.journal,
    quarantine: change.quarantine,
  })
  expect(outcome.rejected).toEqual([])
  return change.oid
}

const files = async (branch: string) =>
  (await git(repo.path, 'ls-tree', '-r', branch)).split('\n').map((line) => line.replace(/ blob .*\t/, ' '))

test('the first commit of an empty repository', async () => {
  const oid = await commit('main', [
    { action: 'create', path: file('README.md'), content: Buffer.from('# x\n') },
  ])
  expect(await git(repo.path, 'rev-parse', 'HEAD')).toBe(oid)
  expect(await git(repo.path, 'show', 'main:README.md')).toBe('# x')
  expect(await git(repo.path, 'log', '-1', '--format=%an %ae %ai %s')).toBe(
    'Ada ada@example.com 2024-01-01 01:00:00 +0100 Change',
  )
})

test('every action', async () => {
  await commit('main', [
    { action: 'create', path: file('a/b/c.txt'), content: Buffer.from('c') },
    { action: 'create', path: file('a/ü.sh'), content: Buffer.from('d'), executable: true },
    { action: 'create', path: file('a.txt'), content: Buffer.from('e') },
    { action: 'create', path: file('z'), content: Buffer.from('f') },
  ])
  await commit('main', [
    { action: 'update', path: file('a/ü.sh'), content: Buffer.from('dd') },
    { action: 'move', previousPath: file('a/b/c.txt'), path: file('c/d.txt') },
    { action: 'delete', path: file('z') },
    { action: 'chmod', path: file('a.txt'), executable: true },
    { action: 'create', path: file('z/now-a-folder'), content: Buffer.from('g') },
  ])
  expect(await files('main')).toEqual([
    '100644 README.md',
    '100755 a.txt',
    '100755 "a/\\303\\274.sh"',
    '100644 c/d.txt',
    '100644 z/now-a-folder',
  ])
  expect(await git(repo.path, 'show', 'main:c/d.txt')).toBe('c')
  expect(await git(repo.path, 'fsck', '--strict')).toBe('')
})

test.each<[string, room.FileAction, string]>([
  ['create over a file', { action: 'create', path: file('a.txt'), content: Buffer.from('') }, 'exists'],
  ['create over a folder', { action: 'create', path: file('a'), content: Buffer.from('') }, 'exists'],
  ['create below a file', { action: 'create', path: file('a.txt/x'), content: Buffer.from('') }, 'exists'],
  ['update nothing', { action: 'update', path: file('no'), content: Buffer.from('') }, 'missing'],
  ['delete a folder', { action: 'delete', path: file('a') }, 'missing'],
  ['move nothing', { action: 'move', previousPath: file('no'), path: file('x') }, 'missing'],
  ['move over a file', { action: 'move', previousPath: file('README.md'), path: file('a.txt') }, 'exists'],
  ['chmod nothing', { action: 'chmod', path: file('no'), executable: true }, 'missing'],
])('%s is refused and leaves nothing', async (_what, action, problem) => {
  const request = { branch: world.main, actions: [action], author: who, committer: who, message: 'x' }
  await expect(room.commitFiles(repo, request)).rejects.toMatchObject({ name: 'FileActionError', problem })
  expect((await readdir(join(repo.path, 'objects'))).filter((name) => name.startsWith('tmp_'))).toEqual([])
})

test('a branch from another commit, and one without its last file', async () => {
  const start = (await room.resolve(repo, room.parseRev('main~1')!))!
  const oid = await commit(
    'side',
    [{ action: 'create', path: file('only'), content: Buffer.from('x') }],
    start,
  )
  expect(await room.resolve(repo, room.parseRev('side~1')!)).toBe(start)
  expect(oid).toBe(await room.resolve(repo, room.parseRev('side')!))
  await commit('lone', [{ action: 'create', path: file('only'), content: Buffer.from('x') }])
  await commit('lone', [{ action: 'delete', path: file('only') }])
  expect(await git(repo.path, 'ls-tree', 'lone^{tree}', 'only')).toBe('')
})

test('a commit of many files goes in as one pack', async () => {
  const actions = Array.from({ length: 300 }, (_, i): room.FileAction => ({
    action: 'create',
    path: file(`many/${i % 7}/${i}`),
    content: Buffer.from(`content ${i}\n`.repeat(i)),
  }))
  await commit('many', actions)
  expect(await git(repo.path, 'show', 'many:many/5/299')).toContain('content 299')
  const kinds = (await readdir(join(repo.path, 'objects/pack'))).map((name) => name.replace(/.*\./, ''))
  expect(kinds).toEqual(expect.arrayContaining(['idx', 'pack']))
  expect(kinds).not.toContain('keep')
  expect(await git(repo.path, 'fsck', '--strict')).toBe('')
})

test('what the guard refuses leaves no object', async () => {
  const request = {
    branch: world.main,
    actions: [{ action: 'create' as const, path: file('refused'), content: Buffer.from('unheard of') }],
    author: who,
    committer: who,
    message: 'x',
  }
  const change = await room.commitFiles(repo, request)
  const outcome = await room.updateRefs(repo, change.updates, {
    from: 'service',
    guard: { check: async () => [{ ref: world.main, message: 'no' }] },
    journal: world.journal,
    quarantine: change.quarantine,
  })
  await change[Symbol.asyncDispose]()
  expect(outcome.rejected).toMatchObject([{ reason: 'refused', message: 'no' }])
  expect(await room.resolve(repo, room.parseRev(change.oid)!)).toBeUndefined()
})

test('git itself refuses what only looks harmless', async () => {
  // HFS+ ignores this character, so that a Mac would take it for .git.
  const actions = [{ action: 'create' as const, path: file('.g\u200cit/config'), content: Buffer.from('x') }]
  const request = { branch: world.main, actions, author: who, committer: who, message: 'x' }
  await expect(room.commitFiles(repo, request)).rejects.toMatchObject({ failure: 'bad-objects' })
})

test('an annotated tag', async () => {
  const target = (await room.resolve(repo, room.parseRev('main')!))!
  await using change = await room.annotateTag(repo, {
    tag: room.tagRef('v2')!,
    target,
    tagger: who,
    message: 'Two',
  })
  await room.updateRefs(repo, change.updates, {
    from: 'service',
    guard: room.allowAll,
    journal: world.journal,
    quarantine: change.quarantine,
  })
  expect(await git(repo.path, 'cat-file', 'tag', 'v2')).toBe(
    `object ${target}\ntype commit\ntag v2\ntagger Ada <ada@example.com> 1704067200 +0100\n\nTwo`,
  )
})

// @module-tag long
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as room from './index.ts'
import { git, openWorld, type World } from './testing.ts'

let world: World
let copy: string
let repo: room.Repository
const someone = { name: 'Cy', email: 'cy@example.com', date: new Date('2024-06-01T12:00:00Z'), offset: 0 }
const words = { author: someone, committer: someone, message: 'Bring it' }
const main = room.branchRef('main')!

beforeAll(async () => {
  world = await openWorld()
  repo = world.repository
  copy = await world.clone('a')
  await world.commit(copy, 'text', '1\n2\n3\n4\n5\n6\n7\n8\n9\n')
  await git(copy, 'push', '--quiet', 'origin', 'main')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

/** A branch from the first commit with these commits, each a file and its content. */
async function branch(name: string, ...commits: [file: string, content: string][]): Promise<room.Oid> {
  await git(copy, 'checkout', '--quiet', '-B', name, 'origin/main')
  for (const [file, content] of commits) await world.commit(copy, file, content)
  await git(copy, 'push', '--quiet', '--force', 'origin', name)
  world.journal.version++
  return room.parseOid(await git(copy, 'rev-parse', 'HEAD'))!
}

async function bring(change: room.PreparedChange): Promise<room.Oid> {
  await using _change = change
  const { rejected } = await room.updateRefs(repo, change.updates, {
    ...{ from: 'service', guard: room.allowAll, journal: world.journal, atomic: true },
    quarantine: change.quarantine,
  })
  expect(rejected).toEqual([])
  return change.oid
}

const ref = (name: string) => room.branchRef(name)!
const show = async (oid: room.Oid, file: string): Promise<string | undefined> => {
  const found = await room.findBlob(repo, oid, room.parsePath(file)!)
  return found && (await room.readBlob(repo, found.oid, 1000))?.toString()
}

describe('merging', () => {
  test('joins two lines of work in a commit that git finds whole', async () => {
    const ours = await branch('ours', ['text', 'one\n2\n3\n4\n5\n6\n7\n8\n9\n'])
    const theirs = await branch('theirs', ['text', '1\n2\n3\n4\n5\n6\n7\n8\nnine\n'], ['new', 'x'])
    const oid = await bring(
      await room.mergeCommits(repo, { ref: ref('ours'), oldOid: ours, from: theirs, ...words }),
    )
    expect((await room.findCommit(repo, oid))?.parents).toEqual([ours, theirs])
    expect(await show(oid, 'text')).toBe('one\n2\n3\n4\n5\n6\n7\n8\nnine\n')
    await git(copy, 'fetch', '--quiet', 'origin')
    expect(await git(copy, 'rev-parse', 'origin/ours')).toBe(oid)
    expect(await git(copy, 'fsck', '--strict')).toBe('')
  })

  test('tells which files are in the way, and leaves nothing behind', async () => {
    const ours = await branch('left', ['text', 'left\n'])
    const theirs = await branch('right', ['text', 'right\n'])
    expect((await room.tryMerge(repo, ours, theirs)).conflicts).toEqual(['text'])
    await expect(
      room.mergeCommits(repo, { ref: ref('left'), oldOid: ours, from: theirs, ...words }),
    ).rejects.toMatchObject({ problem: 'conflict', files: ['text'] })
    const objects = await readdir(join(repo.path, 'objects'))
    expect(objects.filter((name) => name.startsWith('tmp_'))).toEqual([])
  })

  test('finds the common ancestor', async () => {
    const ours = await branch('up', ['a', 'a'])
    const theirs = await branch('down', ['b', 'b'])
    expect(await room.mergeBase(repo, [ours, theirs])).toBe(await room.resolve(repo, main))
  })
})

test('squashing makes one commit of many', async () => {
  const onto = await branch('base', ['other', 'x'])
  const head = await branch('many', ['a', 'a'], ['b', 'b'])
  const oid = await bring(await room.squashCommits(repo, { ref: ref('base'), oldOid: onto, head, ...words }))
  expect((await room.findCommit(repo, oid))?.parents).toEqual([onto])
  expect([await show(oid, 'a'), await show(oid, 'b'), await show(oid, 'other')]).toEqual(['a', 'b', 'x'])
})

describe('rebasing', () => {
  test('makes every commit again, by its author, and drops what is there already', async () => {
    const onto = await branch('trunk', ['trunk', 'x'], ['same', 's'])
    const head = await branch('work', ['a', 'a'], ['same', 's'], ['b', 'b'])
    const oid = await bring(
      await room.rebaseCommits(repo, { ref: ref('work'), oldOid: head, onto, committer: someone }),
    )
    const made = await room.listCommits(repo, { revs: [oid], not: [onto], limit: 10 })
    expect(made.map(({ title }) => title)).toEqual(['Add b', 'Add a'])
    expect(made[0]).toMatchObject({ author: { name: 'Ada' }, committer: { name: 'Cy' } })
    expect([await show(oid, 'a'), await show(oid, 'trunk')]).toEqual(['a', 'x'])
  })

  test('stops where it does not fit', async () => {
    const onto = await branch('trunk2', ['text', 'trunk\n'])
    const head = await branch('work2', ['text', 'work\n'])
    await expect(
      room.rebaseCommits(repo, { ref: ref('work2'), oldOid: head, onto, committer: someone }),
    ).rejects.toMatchObject({ problem: 'conflict' })
  })
})

describe('picking and reverting', () => {
  test('do a change again and undo it, without anything made up being left', async () => {
    const onto = await branch('here', ['other', 'x'])
    const there = await branch('there', ['text', 'one\n2\n3\n4\n5\n6\n7\n8\n9\n'])
    const commit = (await room.findCommit(repo, there))!
    const at = { ref: ref('here'), commit, ...words }
    const picked = await bring(await room.pickCommit(repo, { ...at, oldOid: onto, onto }))
    expect(await show(picked, 'text')).toMatch(/^one/)
    const undone = await bring(
      await room.revertCommit(repo, {
        ...at,
        oldOid: picked,
        onto: picked,
        commit: (await room.findCommit(repo, picked))!,
      }),
    )
    expect(await show(undone, 'text')).toMatch(/^1/)
    expect(await git(repo.path, 'fsck', '--unreachable', '--no-reflogs')).not.toMatch(/base|ours|theirs/)
    await expect(room.revertCommit(repo, { ...at, oldOid: undone, onto: undone })).rejects.toMatchObject({
      problem: 'empty',
    })
  })
})

describe('diffs', () => {
  const limits = { files: 100, patchBytes: 10_000, lines: 1000 }

  test('have a patch for each file', async () => {
    const from = (await room.resolve(repo, main))!
    const to = await branch(
      'diff',
      ['text', '1\n2\n3\n4\n5\n6\n7\n8\n'],
      ['odd\nname', 'odd'],
      ['bin', '\0\0'],
    )
    const { files, total, overflow } = await room.fileDiffs(repo, from, to, limits)
    expect({ total, overflow }).toEqual({ total: 3, overflow: false })
    expect(files).toMatchObject([
      { path: 'bin', status: 'added', patch: 'Binary files /dev/null and b/bin differ\n' },
      { path: 'odd\nname', patch: '@@ -0,0 +1 @@\n+odd\n\\ No newline at end of file\n' },
      { path: 'text', status: 'modified', patch: '@@ -6,4 +6,3 @@\n 6\n 7\n 8\n-9\n' },
    ])
  })

  test('leave out what is too large, and stop at the limits', async () => {
    const from = (await room.resolve(repo, main))!
    const to = await branch('large', ['a', 'x'.repeat(20_000)], ['b', 'b\n'], ['c', 'c\n'], ['d', 'd\n'])
    const all = await room.fileDiffs(repo, from, to, limits)
    expect(all.files.map(({ path, tooLarge }) => [path, tooLarge])).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
      ['d', false],
    ])
    expect(all.files[0]!.patch).toBe('')
    expect(await room.fileDiffs(repo, from, to, { ...limits, files: 2 })).toMatchObject({
      total: 2,
      overflow: true,
    })
    const page = await room.fileDiffs(repo, from, to, limits, { skip: 1, count: 2 })
    expect(page.files.map(({ path, patch }) => [path, patch])).toEqual([
      ['b', '@@ -0,0 +1 @@\n+b\n'],
      ['c', '@@ -0,0 +1 @@\n+c\n'],
    ])
  })

  test('know renames and changes of type', async () => {
    const { symlink, rm } = await import('node:fs/promises')
    const from = await branch('before', ['long', 'same\n'.repeat(20)], ['kind', 'x\n'])
    await git(copy, 'mv', 'long', 'longer')
    await rm(join(copy, 'kind'))
    await symlink('text', join(copy, 'kind'))
    await world.commit(copy, 'zz', 'z\n')
    await git(copy, 'push', '--quiet', 'origin', 'before')
    const to = room.parseOid(await git(copy, 'rev-parse', 'HEAD'))!
    const { files } = await room.fileDiffs(repo, from, to, limits)
    expect(files).toMatchObject([
      { path: 'kind', status: 'type-changed', patch: expect.stringContaining('-x') as string },
      { path: 'longer', oldPath: 'long', status: 'renamed', patch: '' },
      { path: 'zz', status: 'added', patch: '@@ -0,0 +1 @@\n+z\n' },
    ])
  })
})

test('blame names the commit of every line', async () => {
  const first = (await room.resolve(repo, main))!
  const head = await branch('blame', ['text', '1\nnew\n3\n4\n5\n6\n7\n8\n9\n'])
  const file = room.parsePath('text')!
  const parts = await room.blame(repo, head, file)
  expect(parts.map(({ commit, lines }) => [commit.oid, lines])).toEqual([
    [first, ['1']],
    [head, ['new']],
    [first, ['3', '4', '5', '6', '7', '8', '9']],
  ])
  const [only] = await room.blame(repo, head, file, { start: 2, end: 2 })
  expect(only).toMatchObject({ commit: { oid: head }, lines: ['new'] })
})

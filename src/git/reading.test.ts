import { randomBytes } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { chmod, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as room from './index.ts'
import { git, openWorld, type World } from './testing.ts'

let world: World
let copy: string
let repo: room.Repository
let oids: Record<string, room.Oid>
const rev = (text: string) => room.parseRev(text)!
const path = (text: string) => room.parsePath(text)!
const big = randomBytes(3_000_000)

beforeAll(async () => {
  world = await openWorld()
  repo = world.repository
  copy = await world.clone('a')
  const first = await world.commit(copy, 'README.md', 'hello\n')
  await world.commit(copy, 'docs/a.md', 'a\nb\nc\n')
  await writeFile(join(copy, 'run.sh'), 'x')
  await chmod(join(copy, 'run.sh'), 0o755)
  await symlink('README.md', join(copy, 'link'))
  await writeFile(join(copy, 'big.bin'), big)
  await writeFile(join(copy, 'empty'), '')
  await writeFile(join(copy, 'odd\nname *'), 'odd')
  await world.commit(copy, 'docs/deep/ä.md', 'x\n')
  await git(copy, 'checkout', '--quiet', '-b', 'side', first)
  const side = await world.commit(copy, 'side', '1\n2\n')
  await git(copy, 'checkout', '--quiet', 'main')
  await git(copy, 'merge', '--quiet', '--no-ff', '-m', 'Merge side\n\nReviewed-by: Bo <b@x>', 'side')
  await git(copy, 'tag', '-a', 'v1', '-m', 'first\n\nnotes')
  await git(copy, 'push', '--quiet', '--tags', 'origin', 'main', 'side', `${first}:refs/heads/old`)
  world.journal.version++
  const head = await git(copy, 'rev-parse', 'HEAD')
  oids = Object.fromEntries(
    Object.entries({ first, side, head }).map(([name, oid]) => [name, room.parseOid(oid)!]),
  )
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

describe('commits', () => {
  test('are found by branch, tag, id, abbreviation and suffix', async () => {
    for (const name of [
      'main',
      'HEAD',
      'v1',
      oids['head']!,
      oids['head']!.slice(0, 8),
      'refs/heads/main',
      'v1^{}',
    ]) {
      expect([name, await room.resolve(repo, rev(name))]).toEqual([name, oids['head']])
    }
    expect(await room.resolve(repo, rev('main^2'))).toBe(oids['side'])
    for (const name of ['nothing', 'main~99', 'f'.repeat(40), 'main^{blob}']) {
      expect(await room.findCommit(repo, rev(name))).toBeUndefined()
    }
    expect(await room.findCommit(repo, rev('main'))).toMatchObject({
      title: 'Merge side',
      parents: [expect.anything(), oids['side']],
      author: { name: 'Ada', email: 'ada@example.com', offset: 120, date: new Date('2024-05-01T08:00:00Z') },
    })
  })

  test('are listed as git lists them', async () => {
    const titles = async (page: Partial<room.CommitPage>) =>
      (await room.listCommits(repo, { revs: [rev('main')], limit: 100, order: 'topo', ...page })).map(
        (c) => c.title,
      )
    const all = (await git(copy, 'log', '--topo-order', '--format=%s')).split('\n')
    expect(await titles({})).toEqual(all)
    expect(await titles({ skip: 1, limit: 2 })).toEqual(all.slice(1, 3))
    expect(await titles({ paths: [path('docs')] })).toEqual(['Add docs/deep/ä.md', 'Add docs/a.md'])
    expect(await titles({ firstParent: true })).not.toContain('Add side')
    expect(await titles({ author: 'ada@example' })).toEqual(all)
    expect(await titles({ author: 'a.a' })).toEqual([])
    expect(await titles({ author: '--all\n\0' })).toEqual([])
    expect(await titles({ since: new Date('2030-01-01') })).toEqual([])
    expect(await titles({ until: new Date('2030-01-01') })).toEqual(all)
    expect(await titles({ not: [rev('side')] })).toEqual(
      all.filter((t) => t !== 'Add side' && t !== 'Add README.md'),
    )
    expect(await titles({ revs: [rev('nothing')] })).toEqual([])
    expect(await titles({ revs: [], all: true })).toEqual(all)
    expect(await titles({ paths: [path('odd\nname *')] })).toEqual(['Add docs/deep/ä.md'])
    expect(await titles({ paths: [path('*')] })).toEqual([])
    expect(await room.countCommits(repo, { revs: [rev('main')] })).toBe(5)
    expect(await room.countCommits(repo, { revs: [rev('main')] }, 2)).toBe(2)
    expect((await room.lastCommitFor(repo, rev('main'), path('docs/a.md')))?.title).toBe('Add docs/a.md')
  })

  test('have statistics against their first parent', async () => {
    const stats = await room.commitStats(repo, [oids['head']!, oids['first']!])
    expect(stats.get(oids['head']!)).toEqual({ files: 1, additions: 2, deletions: 0 })
    expect(stats.get(oids['first']!)).toEqual({ files: 1, additions: 1, deletions: 0 })
    expect(await room.diffStat(repo, room.zeroOid, oids['side']!)).toEqual({
      files: 2,
      additions: 3,
      deletions: 0,
    })
  })

  test('changed paths', async () => {
    const changed = await room.changedPaths(repo, oids['first']!, oids['head']!)
    expect(changed.map((c) => `${c.status} ${c.path} ${c.newMode}`)).toEqual([
      'added big.bin 100644',
      'added docs/a.md 100644',
      'added docs/deep/ä.md 100644',
      'added empty 100644',
      'added link 120000',
      'added odd\nname * 100644',
      'added run.sh 100755',
      'added side 100644',
    ])
    expect(await room.changedPaths(repo, room.zeroOid, oids['first']!)).toMatchObject([{ path: 'README.md' }])
    expect(await room.changedPaths(repo, oids['head']!, oids['first']!, { limit: 1 })).toHaveLength(1)
    await git(copy, 'checkout', '--quiet', '-B', 'move')
    await git(copy, 'mv', 'docs/a.md', 'b.md')
    await git(copy, 'commit', '-qm', 'move')
    await git(copy, 'push', '--quiet', 'origin', 'move')
    const moved = (await room.resolve(repo, rev('move')))!
    expect(await room.changedPaths(repo, oids['head']!, moved, { renames: true })).toMatchObject([
      { status: 'renamed', oldPath: 'docs/a.md', path: 'b.md' },
    ])
    expect(await room.diffStat(repo, oids['head']!, moved)).toEqual({ files: 1, additions: 0, deletions: 0 })
  })

  test('ancestors, merged branches, refs that contain', async () => {
    expect(await room.isAncestor(repo, oids['side']!, oids['head']!)).toBe(true)
    expect(await room.isAncestor(repo, oids['head']!, oids['side']!)).toBe(false)
    expect(await room.isAncestor(repo, 'f'.repeat(40) as room.Oid, oids['side']!)).toBe(false)
    expect(await room.mergedBranches(repo, oids['side']!)).toEqual(['refs/heads/old', 'refs/heads/side'])
    expect(await room.refsContaining(repo, oids['side']!, 'refs/tags/')).toEqual(['refs/tags/v1'])
  })
})

describe('trees and files', () => {
  const names = async (at: string, page?: room.TreePage) =>
    (await room.listTree(repo, rev('main'), path(at), page))?.entries.map(
      (e) => `${e.mode} ${e.type} ${e.path}`,
    )

  test('a folder', async () => {
    expect(await names('docs')).toEqual(['100644 blob docs/a.md', '040000 tree docs/deep'])
    expect(await names('', { order: 'folders-first', limit: 3 })).toEqual([
      '040000 tree docs',
      '100644 blob README.md',
      '100644 blob big.bin',
    ])
    expect(await names('nothing')).toBeUndefined()
    expect(await names('README.md')).toBeUndefined()
    expect(await room.listTree(repo, rev('nothing'), room.rootPath)).toBeUndefined()
    expect(await names('odd\nnothing')).toBeUndefined()
  })

  test('everything below', async () => {
    const lines = (await git(copy, 'ls-tree', '-r', '-t', '-z', '--name-only', 'v1'))
      .split('\0')
      .filter(Boolean)
    const listed = await room.listTree(repo, rev('main'), room.rootPath, { recursive: true })
    expect(listed?.entries.map((e) => e.path)).toEqual(lines)
    expect(await names('docs', { recursive: true, skip: 1 })).toEqual([
      '040000 tree docs/deep',
      '100644 blob docs/deep/ä.md',
    ])
  })

  test('files of any size and name', async () => {
    expect(await room.findEntry(repo, rev('main'), path('run.sh'))).toMatchObject({
      mode: '100755',
      name: 'run.sh',
    })
    expect(await room.findEntry(repo, rev('main'), room.rootPath)).toMatchObject({ type: 'tree' })
    const odd = await room.findBlob(repo, rev('main'), path('odd\nname *'))
    expect((await room.readBlob(repo, odd!.oid, 100))?.toString()).toBe('odd')
    expect(await room.findBlob(repo, rev('main'), path('docs'))).toBeUndefined()
    const large = (await room.findBlob(repo, rev('main'), path('big.bin')))!
    expect(large.size).toBe(big.length)
    await expect(room.readBlob(repo, large.oid, 1000)).rejects.toMatchObject({ failure: 'too-large' })
    expect((await room.readBlob(repo, large.oid, 1e7))?.equals(big)).toBe(true)
    const streamed = await room.streamBlob(repo, large.oid)
    expect((await buffer(streamed!.content)).equals(big)).toBe(true)
    const empty = await room.findBlob(repo, rev('main'), path('empty'))
    expect(await buffer((await room.streamBlob(repo, empty!.oid))!.content)).toHaveLength(0)
    expect(await room.streamBlob(repo, oids['head']!)).toBeUndefined()
    const stopped = await room.streamBlob(repo, large.oid)
    stopped!.content.destroy()
  })

  test.each(['tar', 'tar.gz', 'tar.bz2', 'zip'] as const)('an archive as %s', async (format) => {
    if (format === 'tar.bz2' && !(await room.canBzip2())) return
    const output = new PassThrough()
    const made = room.archive(repo, oids['head']!, output, {
      format,
      prefix: path('a-main'),
      path: path('docs'),
      exclude: [path('docs/deep')],
    })
    const bytes = await buffer(output)
    await made
    if (format === 'zip') {
      expect(bytes.toString('latin1')).toContain('a-main/docs/a.md')
      expect(bytes.toString('latin1')).not.toContain('deep')
    } else {
      const flag = { tar: '-t', 'tar.gz': '-tz', 'tar.bz2': '-tj' }[format]
      const list = execFileSync('tar', [flag], { input: bytes }).toString().split('\n').filter(Boolean)
      expect(list).toEqual(['a-main/', 'a-main/docs/', 'a-main/docs/a.md'])
    }
  })

  test('an archive of a path that is not there', async () => {
    const output = new PassThrough()
    output.resume()
    const options = { format: 'tar', prefix: room.rootPath, path: path('nothing') } as const
    await expect(room.archive(repo, oids['head']!, output, options)).rejects.toMatchObject({
      failure: 'failed',
    })
  })
})

test('refs are read once for a version, and tags are peeled', async () => {
  const version = 1000
  const first = await room.listRefs(repo, version)
  expect(await room.listRefs(repo, version)).toBe(first)
  expect(await room.listRefs(repo, version + 1)).not.toBe(first)
  expect((await room.listTags(repo, version + 1))[0]).toMatchObject({
    name: 'v1',
    annotated: true,
    target: oids['head'],
  })
  const tag = await room.findTag(repo, (await room.listTags(repo, version + 1))[0]!.oid)
  expect(tag).toMatchObject({
    name: 'v1',
    message: 'first\n\nnotes\n',
    target: oids['head'],
    tagger: { name: 'Ada' },
  })
  expect(room.parseTrailers((await room.findCommit(repo, rev('v1')))!.message)).toEqual([
    { key: 'Reviewed-by', value: 'Bo <b@x>' },
  ])
})

describe('the object readers', () => {
  test('answer many questions of many repositories with few processes', async () => {
    await using few = await room.openGit({ readers: 2, durable: false })
    await Promise.all(
      ['1', '2', '3', '4'].map((n) => git(world.folder, 'clone', '-q', '--bare', repo.path, `copy${n}.git`)),
    )
    const repositories = ['1', '2', '3', '4'].map((n) => few.repository(join(world.folder, `copy${n}.git`)))
    const found = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        room.findCommit(repositories[i % 4]!, rev(i % 3 === 0 ? 'nothing' : 'v1')),
      ),
    )
    expect(found.filter((c) => c?.oid === oids['head'])).toHaveLength(133)
    expect(repositories[0]!.readers.processes).toBeLessThanOrEqual(2)
  })

  test('end when idle and start again', async () => {
    await using short = await room.openGit({ readerIdle: 20, durable: false })
    const repository = short.repository(repo.path)
    await room.findCommit(repository, rev('main'))
    expect(repository.readers.processes).toBe(1)
    await expect.poll(() => repository.readers.processes).toBe(0)
    expect(await room.findCommit(repository, rev('main'))).toBeDefined()
  })

  test('fail for a repository that is not there, and when closed', async () => {
    const gone = world.git.repository(join(world.folder, 'gone.git'))
    await expect(room.findCommit(gone, rev('main'))).rejects.toMatchObject({ failure: 'failed' })
    expect(await room.repositoryExists(gone)).toBe(false)
    const closed = await room.openGit({ durable: false })
    await closed[Symbol.asyncDispose]()
    await expect(room.findCommit(closed.repository(repo.path), rev('main'))).rejects.toMatchObject({
      failure: 'aborted',
    })
  })

  test('a large object that is refused does not disturb the next ones', async () => {
    const large = (await room.findBlob(repo, rev('main'), path('big.bin')))!
    const results = await Promise.allSettled([
      room.readBlob(repo, large.oid, 10),
      room.findCommit(repo, rev('main')),
      room.readBlob(repo, large.oid, 10),
      room.findCommit(repo, rev('side')),
    ])
    expect(results.map((r) => r.status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
  })
})

test('git that is missing or too old is told clearly', async () => {
  await expect(room.checkGit('/nonexistent/git')).rejects.toMatchObject({ failure: 'missing-program' })
  const old = join(world.folder, 'old-git')
  await writeFile(old, '#!/bin/sh\necho git version 2.30.1\n', { mode: 0o755 })
  await expect(room.openGit({ executable: old })).rejects.toThrow(
    'git 2.39 or newer is needed; this machine has 2.30.1',
  )
})

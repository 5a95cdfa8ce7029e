// @module-tag long
import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listRefs } from './refs.ts'
import { git, openWorld, tryGit, type World } from './testing.ts'

let world: World
beforeEach(async () => {
  world = await openWorld()
})
afterEach(async () => {
  expect(world.failures).toEqual([])
  await world[Symbol.asyncDispose]()
})

/** A working copy whose `main` has been pushed with these files, one a commit. */
async function pushed(name: string, ...files: string[]): Promise<string> {
  const copy = await world.clone(name)
  for (const file of files) await world.commit(copy, file)
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:main')
  return copy
}

async function objectFiles(): Promise<string[]> {
  const names = await readdir(join(world.repository.path, 'objects'), {
    recursive: true,
    withFileTypes: true,
  })
  return names.filter((entry) => entry.isFile()).map((entry) => entry.name)
}

const serverRef = (name: string) => tryGit(world.repository.path, ['rev-parse', '--verify', '-q', name])

describe.each(['0', '1', '2'])('protocol %s', (version) => {
  const protocol = ['-c', `protocol.version=${version}`]

  test('an empty repository is cloned, pushed to, cloned and fetched from', async () => {
    const copy = await world.clone('a')
    const first = await world.commit(copy, 'README.md')
    await git(copy, ...protocol, 'push', '--quiet', 'origin', 'HEAD:main')

    await git(world.folder, ...protocol, 'clone', '--quiet', world.url, 'b')
    const other = join(world.folder, 'b')
    expect(await git(other, 'rev-parse', 'HEAD')).toBe(first)
    expect(await git(other, 'branch', '--show-current')).toBe('main')

    const second = await world.commit(copy, 'more')
    await git(copy, 'tag', '-a', 'v1', '-m', 'one')
    await git(copy, ...protocol, 'push', '--quiet', 'origin', 'HEAD:main', 'v1')
    await git(other, ...protocol, 'fetch', '--quiet')
    expect(await git(other, 'rev-parse', 'origin/main')).toBe(second)
    expect(await git(other, 'rev-parse', 'v1^{commit}')).toBe(second)
    expect((await listRefs(world.repository, world.journal.version)).tags).toMatchObject([
      { name: 'v1', annotated: true, target: second },
    ])
  })

  test('shallow and partial clones', async () => {
    await pushed('a', 'one', 'two', 'three')
    await git(world.folder, ...protocol, 'clone', '--quiet', '--depth', '1', world.url, 'shallow')
    const shallow = join(world.folder, 'shallow')
    expect(await git(shallow, 'rev-list', '--count', 'HEAD')).toBe('1')
    await git(shallow, ...protocol, 'fetch', '--quiet', '--unshallow')
    expect(await git(shallow, 'rev-list', '--count', 'HEAD')).toBe('3')

    await git(
      world.folder,
      ...protocol,
      'clone',
      '--quiet',
      '--bare',
      '--filter=blob:none',
      world.url,
      'partial',
    )
    const blobs = await git(
      join(world.folder, 'partial'),
      'rev-list',
      '--objects',
      '--all',
      '--missing=print',
    )
    expect(blobs.split('\n').filter((line) => line.startsWith('?'))).toHaveLength(3)
    const fetched = await git(join(world.folder, 'partial'), ...protocol, 'show', 'main:two')
    expect(fetched).toBe('two')
  })

  test('any object may be fetched by its id, but hidden refs are not listed', async () => {
    const copy = await pushed('a', 'one')
    const lone = await world.commit(copy, 'two')
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:main')
    await git(world.repository.path, 'update-ref', 'refs/keep-around/x', lone)
    await git(world.repository.path, 'update-ref', 'refs/merge-requests/1/head', lone)
    await git(world.repository.path, 'update-ref', 'refs/heads/main', `${lone}~1`)
    world.journal.version++

    const listed = await git(copy, ...protocol, 'ls-remote', 'origin')
    expect(listed.split('\n').map((line) => line.split('\t')[1])).toEqual([
      'HEAD',
      'refs/heads/main',
      'refs/merge-requests/1/head',
    ])
    const fresh = await world.clone('b')
    await git(fresh, ...protocol, 'fetch', '--quiet', 'origin', lone)
    expect(await git(fresh, 'rev-parse', 'FETCH_HEAD')).toBe(lone)
  })
})

test('branches are created, forced, deleted; a push without force of another history stays with the client', async () => {
  const copy = await pushed('a', 'one', 'two')
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:refs/heads/topic/x')
  await git(copy, 'reset', '--quiet', '--hard', 'HEAD~1')
  const other = await world.commit(copy, 'other')
  expect((await tryGit(copy, ['push', 'origin', 'HEAD:main'])).stderr).toContain('non-fast-forward')
  await git(copy, 'push', '--quiet', '--force', 'origin', 'HEAD:main')
  expect((await serverRef('main')).stdout.trim()).toBe(other)
  await git(copy, 'push', '--quiet', 'origin', ':topic/x')
  expect((await serverRef('topic/x')).code).toBe(1)
  expect(world.journal.log.map(({ step }) => step).filter((step) => step === 'abandoned')).toEqual([])
})

test('a guard learns what is forced and which commits are new, through the quarantine', async () => {
  const copy = await pushed('a', 'one', 'two')
  const seen: unknown[] = []
  world.push = {
    guard: {
      async check({ updates, pushOptions }) {
        for (const update of updates) {
          const commits = await update.newCommits()
          seen.push([
            update.ref,
            update.isCreation,
            update.isDeletion,
            await update.isForced(),
            commits.map((c) => c.title),
          ])
        }
        seen.push(pushOptions)
        return []
      },
    },
  }
  await git(copy, 'reset', '--quiet', '--hard', 'HEAD~1')
  await world.commit(copy, 'three')
  await world.commit(copy, 'four')
  await git(
    copy,
    'push',
    '--quiet',
    '-f',
    '-o',
    'ci.skip',
    '-o',
    'mr.title=a b',
    'origin',
    'HEAD:main',
    'HEAD:refs/heads/new',
  )
  await git(copy, 'push', '--quiet', 'origin', ':new')
  expect(seen).toEqual([
    ['refs/heads/main', false, false, true, ['Add four', 'Add three']],
    ['refs/heads/new', true, false, false, ['Add four', 'Add three']],
    ['ci.skip', 'mr.title=a b'],
    ['refs/heads/new', false, true, false, []],
    [],
  ])
})

test('one refused ref refuses the whole push, tells why, and leaves no object', async () => {
  const copy = await pushed('a', 'one')
  const before = await objectFiles()
  await world.commit(copy, 'two')
  world.push = {
    guard: {
      check: async () => [
        {
          ref: world.main,
          message: 'You are not allowed to push code to protected branches on this project.',
        },
      ],
    },
  }
  const told = await tryGit(copy, ['push', 'origin', 'HEAD:main', 'HEAD:refs/heads/free'])
  expect(told.code).toBe(1)
  expect(told.stderr).toMatch(
    /^remote: Guildhall: You are not allowed to push code to protected branches on this project\. *$/m,
  )
  expect(told.stderr).toMatch(/! \[remote rejected\] HEAD -> main \(pre-receive hook declined\)/)
  expect(told.stderr).toMatch(/! \[remote rejected\] HEAD -> free \(pre-receive hook declined\)/)
  expect(await objectFiles()).toEqual(before)
  expect(await readdir(join(world.repository.path, 'objects'))).not.toContainEqual(
    expect.stringMatching(/^tmp_/),
  )
  expect(world.journal.log).toHaveLength(2)
})

test('lines after a push reach the user', async () => {
  const copy = await world.clone('a')
  await world.commit(copy, 'one')
  world.push = {
    afterwards: async ({ applied }) => [
      '',
      `To create a merge request for ${applied[0]?.ref ?? ''}, visit:`,
      '  http://x',
      '',
    ],
  }
  const { stderr } = await tryGit(copy, ['push', 'origin', 'HEAD:main'])
  expect(stderr).toMatch(
    /remote: To create a merge request for refs\/heads\/main, visit:\s+remote: {3}http:\/\/x/,
  )
})

test('refs that only the service writes are refused; the others of the push go through', async () => {
  const copy = await pushed('a', 'one')
  const told = await tryGit(copy, [
    'push',
    'origin',
    'HEAD:refs/merge-requests/1/head',
    'HEAD:refs/heads/ok',
    'HEAD:refs/keep-around/x',
  ])
  expect(told.stderr).toMatch(/refs\/merge-requests\/1\/head \(deny updating a hidden ref\)/)
  expect(told.stderr).toMatch(/refs\/keep-around\/x \(deny updating a hidden ref\)/)
  expect((await serverRef('refs/heads/ok')).code).toBe(0)
  const atomic = await tryGit(copy, ['push', '--atomic', 'origin', 'HEAD:refs/tmp/x', 'HEAD:refs/heads/not'])
  expect(atomic.code).toBe(1)
  expect(atomic.stderr).toMatch(/HEAD -> not \(atomic push failure\)/)
  expect((await serverRef('refs/heads/not')).code).toBe(1)
})

test('a lost race fails only its own ref, or all of an atomic push', async () => {
  const copy = await pushed('a', 'one')
  const head = await git(copy, 'rev-parse', 'HEAD')
  await world.commit(copy, 'two')
  let sneak = 'refs/heads/lost'
  world.push = {
    guard: {
      async check() {
        await git(world.repository.path, 'update-ref', sneak, head)
        return []
      },
    },
  }
  const told = await tryGit(copy, ['push', 'origin', 'HEAD:refs/heads/lost', 'HEAD:refs/heads/won'])
  expect(told.stderr).toMatch(/HEAD -> lost \(failed to update ref\)/)
  expect(told.stderr).toMatch(/\[new branch\] +HEAD -> won/)
  sneak = 'refs/heads/lost2'
  const atomic = await tryGit(copy, [
    'push',
    '--atomic',
    'origin',
    'HEAD:refs/heads/lost2',
    'HEAD:refs/heads/won2',
  ])
  expect(atomic.stderr).toMatch(/HEAD -> lost2 \(failed to update ref\)/)
  expect(atomic.stderr).toMatch(/HEAD -> won2 \(atomic push failure\)/)
  expect(world.journal.log.map(({ step }) => step).slice(-4)).toEqual([
    'prepared',
    'applied',
    'prepared',
    'abandoned',
  ])
})

test('names that clash as folder and file', async () => {
  const copy = await pushed('a', 'one')
  const told = await tryGit(copy, ['push', 'origin', 'HEAD:refs/heads/main/x'])
  expect(told.stderr).toMatch(/main\/x \(failed to update ref\)/)
  expect(world.pushes.at(-1)?.rejected[0]?.reason).toBe('conflict')
})

test('a shallow clone may push what the server can complete, and nothing else', async () => {
  await pushed('a', 'one', 'two', 'three')
  const shallow = await world.clone('shallow', '--depth', '1')
  const head = await world.commit(shallow, 'four')
  await git(shallow, 'push', '--quiet', 'origin', 'HEAD:main')
  expect((await serverRef('main')).stdout.trim()).toBe(head)
  expect(await git(world.repository.path, 'rev-list', '--count', 'main')).toBe('4')

  const elsewhere = await openWorld()
  await git(shallow, 'remote', 'add', 'other', elsewhere.url)
  const told = await tryGit(shallow, ['push', 'other', 'HEAD:main'])
  expect(told.stderr).toMatch(/\(shallow update not allowed\)/)
  await elsewhere[Symbol.asyncDispose]()
})

test('objects that git finds fault with are refused in its words, without paths of the server', async () => {
  const copy = await pushed('a', 'one')
  await writeFile(
    join(copy, 'bad'),
    `tree ${await git(copy, 'rev-parse', 'HEAD^{tree}')}\nauthor nobody\n\nx\n`,
  )
  const bad = await git(copy, 'hash-object', '--literally', '-t', 'commit', '-w', 'bad')
  const told = await tryGit(copy, ['push', 'origin', `${bad}:refs/heads/bad`])
  expect(told.code).toBe(1)
  expect(told.stderr).toMatch(/remote: (?:error|fatal)/)
  expect(told.stderr).toMatch(/unpack-objects abnormal exit|unpacker error/)
  expect(told.stderr).not.toContain(world.repository.path)
})

test('a pack over the limit is refused', async () => {
  const copy = await world.clone('a')
  await world.commit(copy, 'big', randomBytes(300_000).toString('base64'))
  world.push = { maxPackSize: 100_000 }
  const told = await tryGit(copy, ['push', 'origin', 'HEAD:main'])
  expect(told.stderr).toMatch(/pack exceeds maximum allowed size/)
  expect(told.stderr).toMatch(/unpacker error/)
  expect(await objectFiles()).toEqual([])
})

test('concurrent pushes to one repository all arrive', async () => {
  await pushed('a', 'one')
  const copies = await Promise.all(Array.from({ length: 8 }, (_, i) => world.clone(`c${i}`)))
  await Promise.all(copies.map((copy, i) => world.commit(copy, `file${i}`)))
  await Promise.all(copies.map((copy, i) => git(copy, 'push', '--quiet', 'origin', `HEAD:refs/heads/b${i}`)))
  const raced = await Promise.all(copies.map((copy) => tryGit(copy, ['push', 'origin', 'HEAD:main'])))
  expect(raced.filter(({ code }) => code === 0)).toHaveLength(1)
  const refs = await listRefs(world.repository, world.journal.version)
  expect(refs.branches.map(({ name }) => name)).toEqual([
    'b0',
    'b1',
    'b2',
    'b3',
    'b4',
    'b5',
    'b6',
    'b7',
    'main',
  ])
  expect(await git(world.repository.path, 'fsck', '--strict', '--connectivity-only')).toBe('')
})

test('a failure of ours is told without details and passed on', async () => {
  const copy = await world.clone('a')
  await world.commit(copy, 'one')
  world.push = { guard: { check: () => Promise.reject(new Error('database is down: password=x')) } }
  const told = await tryGit(copy, ['push', 'origin', 'HEAD:main'])
  expect(told.code).not.toBe(0)
  expect(told.stderr).toContain('internal error')
  expect(told.stderr).not.toContain('database')
  expect(world.failures.splice(0)).toMatchObject([{ message: 'database is down: password=x' }])
  expect(await objectFiles()).toEqual([])
})

import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { advertiseRefs, parseProtocol, type ProtocolVersion } from './advertise.ts'
import { hidden, internalPrefixes } from './commands.ts'
import { delimiterPkt, flushPkt, parsePkts, pkt, pktText } from './pkt-line.ts'
import { loadRefs, type RefSnapshot } from './ref-cache.ts'
import { createRepository, setDefaultBranch, type Repository } from './repository.ts'
import { run } from './run.ts'
import { git, openWorld, tryGit, type World } from './testing.ts'
import { branchRef, zeroOid } from './parse.ts'
import { uploadPack } from './upload-pack.ts'

let world: World
let unborn: Repository
let empty: Repository
beforeAll(async () => {
  world = await openWorld()
  const copy = await world.clone('a')
  await world.commit(copy, 'one')
  await git(copy, 'tag', 'light')
  await git(copy, 'tag', '-a', 'heavy', '-m', 'x')
  await git(copy, 'tag', '-a', 'tag-of-tag', '-m', 'x', 'heavy')
  await git(
    copy,
    'push',
    '--quiet',
    '--tags',
    'origin',
    'HEAD:main',
    'HEAD:refs/heads/añ/b',
    'HEAD:refs/notes/commits',
  )
  for (const name of [
    'refs/keep-around/a',
    'refs/merge-requests/1/head',
    'refs/environments/x/deployments/1',
  ]) {
    await git(world.repository.path, 'update-ref', name, 'main')
  }
  unborn = world.git.repository(`${world.folder}/unborn.git`)
  await git(world.folder, 'clone', '--quiet', '--bare', world.repository.path, 'unborn.git')
  await setDefaultBranch(unborn, branchRef('nothing')!)
  empty = world.git.repository(`${world.folder}/empty.git`)
  await createRepository(empty, { defaultBranch: branchRef('trunk')! })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const repositories = { full: () => world.repository, unborn: () => unborn, empty: () => empty }
const names = ['full', 'unborn', 'empty'] as const

/** What git itself would say, with our settings. A newer git may know more capabilities than we tell of. */
async function byGit(
  repository: Repository,
  service: 'upload-pack' | 'receive-pack',
  version: number,
  http: boolean,
) {
  const settings = [...hidden, 'uploadpack.allowFilter=true', 'uploadpack.allowAnySHA1InWant=true']
  settings.push('receive.advertisePushOptions=true', 'receive.advertiseAtomic=true')
  settings.push(...internalPrefixes.map((prefix) => `receive.hideRefs=${prefix.slice(0, -1)}`))
  const { stdout } = await tryGit(
    world.folder,
    [
      ...settings.flatMap((x) => ['-c', x]),
      service,
      ...(http ? ['--stateless-rpc'] : []),
      '--advertise-refs',
      repository.path,
    ],
    { GIT_PROTOCOL: `version=${version}` },
  )
  return stdout
}

function split(text: string): { lines: string[]; capabilities: string[] } {
  const { pkts } = parsePkts(Buffer.from(text))
  let capabilities: string[] = []
  const lines = pkts.map((line) => {
    const [start = '', known] = (Buffer.isBuffer(line) ? pktText(line) : line).split('\0')
    if (known !== undefined) capabilities = known.split(' ')
    return start
  })
  return { lines, capabilities }
}

describe.each(names)('a repository that is %s', (name) => {
  test.each([0, 1] as const)('is advertised for fetching as git does, version %i', async (version) => {
    const refs = await loadRefs(repositories[name]())
    const ours = split(
      advertiseRefs(world.repository, 'git-upload-pack', { refs, version, http: false }).toString(),
    )
    const theirs = split(await byGit(repositories[name](), 'upload-pack', version, false))
    // Asked to advertise only, git takes itself to be behind HTTP and adds `no-done`.
    // Old gits say nothing of an empty repository; newer ones tell their capabilities, as we do.
    if (theirs.capabilities.length === 0) {
      expect(ours.lines).toContain(`${zeroOid} capabilities^{}`)
      return
    }
    expect(ours.lines).toEqual(theirs.lines)
    expect(theirs.capabilities).toEqual(expect.arrayContaining(ours.capabilities))
    const http = advertiseRefs(world.repository, 'git-upload-pack', { refs, version, http: true }).toString()
    expect(http).toMatch(/^001e# service=git-upload-pack\n0000/)
    if (world.git.version.startsWith('2.39.')) {
      expect(http.slice(34)).toBe(await byGit(repositories[name](), 'upload-pack', version, true))
    }
  })

  test.each([0, 1, 2] as const)('is advertised for pushing as git does, version %i', async (version) => {
    const refs = await loadRefs(repositories[name]())
    const ours = advertiseRefs(world.repository, 'git-receive-pack', {
      refs,
      version,
      http: false,
    }).toString()
    const theirs = split(await byGit(repositories[name](), 'receive-pack', version, false))
    expect(split(ours).lines).toEqual(theirs.lines)
    expect(theirs.capabilities).toEqual(expect.arrayContaining(split(ours).capabilities))
  })

  test('tells its capabilities over version 2', async () => {
    const refs = await loadRefs(repositories[name]())
    const ours = advertiseRefs(world.repository, 'git-upload-pack', {
      refs,
      version: 2,
      http: true,
    }).toString()
    const theirs = split(await byGit(repositories[name](), 'upload-pack', 2, true)).lines
    expect(theirs).toEqual(expect.arrayContaining(split(ours).lines))
  })

  test.each([
    [[]],
    [['peel', 'symrefs', 'unborn']],
    [['symrefs']],
    [['unborn']],
    [['peel', 'ref-prefix refs/tags/']],
    [['symrefs', 'unborn', 'ref-prefix HEAD', 'ref-prefix refs/heads/']],
    [['ref-prefix refs/keep-around/', 'ref-prefix refs/merge-requests/']],
  ])('answers ls-refs %j as git does, without starting it', async (args: string[]) => {
    const repository = repositories[name]()
    const refs = await loadRefs(repository)
    const question = [
      pkt('command=ls-refs\n'),
      pkt('agent=git/2.39.5\n'),
      pkt('object-format=sha1'),
      delimiterPkt,
      ...args.map((line) => pkt(`${line}\n`)),
      flushPkt,
    ]
    const { stdout } = await run(repository, 'upload-pack', {
      flags: ['--stateless-rpc'],
      config: hidden,
      protocol: 'version=2',
      input: Buffer.concat(question),
    })
    const output = new PassThrough()
    const withoutGit = { ...repository, program: { ...repository.program, executable: '/nonexistent/git' } }
    const answering = uploadPack(withoutGit, Readable.from(question), output, {
      version: 2,
      statelessRpc: true,
      refs: () => Promise.resolve(refs),
    })
    await answering
    output.end()
    expect((await buffer(output)).toString()).toBe(stdout.toString())
  })
})

test('an odd question is left to git', async () => {
  const refs = () => Promise.reject<RefSnapshot>(new Error('not to be asked'))
  for (const line of ['frotz', 'ref-prefix']) {
    const output = new PassThrough()
    const question = [pkt('command=ls-refs'), delimiterPkt, pkt(line), flushPkt]
    await uploadPack(world.repository, Readable.from(question), output, {
      version: 2,
      statelessRpc: true,
      refs,
    })
    output.end()
    const { stdout } = await run(world.repository, 'upload-pack', {
      flags: ['--stateless-rpc'],
      config: hidden,
      protocol: 'version=2',
      input: Buffer.concat(question),
      accept: [0, 128],
    })
    expect((await buffer(output)).toString()).toBe(stdout.toString())
  }
})

test.each<[string | undefined, ProtocolVersion]>([
  [undefined, 0],
  ['', 0],
  ['version=1', 1],
  ['version=2', 2],
  ['version=1:version=2', 2],
  ['version=2:x', 2],
  ['version=3', 0],
  ['x=version=2', 0],
])('the protocol of %j is %i', (header, version) => {
  expect(parseProtocol(header)).toBe(version)
})

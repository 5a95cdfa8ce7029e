// @module-tag long
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { advertiseRefs } from './advertise.ts'
import { zeroOid } from './parse.ts'
import { flushPkt, pkt } from './pkt-line.ts'
import { receivePack, type PushResult, type ReceivePackOptions } from './receive-pack.ts'
import { loadRefs } from './ref-cache.ts'
import { git, openWorld, pushBody, type World } from './testing.ts'
import { allowAll } from './update-refs.ts'
import { uploadPack } from './upload-pack.ts'

let world: World
let copy: string
let head: string
let body: Buffer
beforeAll(async () => {
  world = await openWorld()
  copy = await world.clone('a')
  head = await world.commit(copy, 'big', randomBytes(4_000_000).toString('latin1'))
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:main')
  const next = await world.commit(copy, 'two')
  body = await pushBody(copy, [{ old: head, new: next, ref: 'refs/heads/main' }])
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

async function push(
  input: Readable | Buffer,
  options: Partial<ReceivePackOptions> = {},
): Promise<{ said: string; result: PushResult }> {
  const output = new PassThrough()
  const said = text(output)
  const stream = Buffer.isBuffer(input) ? Readable.from(input.length === 0 ? [] : [input]) : input
  const result = await receivePack(world.repository, stream, output, {
    guard: allowAll,
    journal: world.journal,
    ...options,
  }).finally(() => output.end())
  return { said: await said, result }
}

async function unchanged(): Promise<void> {
  expect(await git(world.repository.path, 'rev-parse', 'main')).toBe(head)
  expect(
    (await readdir(join(world.repository.path, 'objects'))).filter((name) => name.startsWith('tmp_')),
  ).toEqual([])
}

const command = (line: string) => Buffer.concat([pkt(line), flushPkt])
const caps = '\0report-status'

test.each<[string, Buffer, RegExp]>([
  ['nothing at all', Buffer.alloc(0), /^$/],
  ['a probe', flushPkt, /^$/],
  ['text', Buffer.from('GET / HTTP/1.1\r\n\r\n'), /ERR bad line length/],
  ['half a length', Buffer.from('00'), /ERR the remote end hung up/],
  ['half a line', Buffer.from('0010abc'), /ERR the remote end hung up/],
  ['no end of commands', pkt(`${zeroOid} ${zeroOid} refs/heads/x`), /ERR the remote end hung up/],
  ['a mark in the commands', Buffer.from('0001'), /ERR a mark stands/],
  ['no ids', command('main'), /ERR expected old\/new\/ref/],
  ['no ref', command(`${zeroOid} ${zeroOid} `), /ERR expected old\/new\/ref/],
  ['a bad shallow line', command('shallow x'), /ERR a shallow line/],
  [
    'another hash',
    command(`${zeroOid} ${zeroOid} refs/heads/x\0object-format=sha256`),
    /ERR this repository uses sha1/,
  ],
  ['a certificate', command('push-cert\0x'), /ERR expected old\/new\/ref/],
  [
    'no pack',
    command(`${zeroOid} ${'1'.repeat(40)} refs/heads/x${caps}`),
    /unpack eof before pack header.*ng refs\/heads\/x unpacker error/s,
  ],
  [
    'no pack but text',
    Buffer.concat([
      command(`${zeroOid} ${'1'.repeat(40)} refs/heads/x${caps}`),
      Buffer.from('hello world, hello'),
    ]),
    /unpack protocol error \(pack signature/,
  ],
  [
    'a funny name',
    command(`${'1'.repeat(40)} ${zeroOid} refs/heads/../x${caps}`),
    /unpack ok.*ng refs\/heads\/\.\.\/x funny refname/s,
  ],
  ['an option for a name', command(`${'1'.repeat(40)} ${zeroOid} --all${caps}`), /ng --all funny refname/],
  [
    'a name that is no UTF-8',
    Buffer.concat([
      pkt(Buffer.from(`${'1'.repeat(40)} ${zeroOid} refs/heads/\xff${caps}`, 'latin1')),
      flushPkt,
    ]),
    /ng refs\/heads\/� failed to update ref/,
  ],
  [
    'deleting nothing',
    command(`${'1'.repeat(40)} ${zeroOid} refs/heads/none${caps}`),
    /ng refs\/heads\/none failed to update ref/,
  ],
  [
    'nothing to nothing',
    command(`${zeroOid} ${zeroOid} refs/heads/none${caps}`),
    /ng refs\/heads\/none failed/,
  ],
])('a push of %s is answered', async (_what, input, answer) => {
  const { said, result } = await push(input)
  expect(said).toMatch(answer)
  expect(result.applied).toEqual([])
  await unchanged()
})

test('two updates of one ref in a push are refused', async () => {
  const lines = [`${head} ${zeroOid} refs/heads/main${caps}`, `${head} ${zeroOid} refs/heads/main`].map(pkt)
  const { said } = await push(Buffer.concat([...lines, flushPkt]))
  expect(said.match(/ng refs\/heads\/main multiple updates/g)).toHaveLength(2)
  await unchanged()
})

test('a pack without the objects it needs is refused', async () => {
  // The tree and the file, but a commit that names another parent which nobody has.
  const lone = (await git(copy, 'commit-tree', 'HEAD^{tree}', '-m', 'x')).trim()
  const packed = await pushBody(copy, [{ old: zeroOid, new: lone, ref: 'refs/heads/x' }])
  const missing = Buffer.from(packed)
  const commands = Buffer.concat([
    pkt(`${zeroOid} ${'1'.repeat(40)} refs/heads/x\0report-status side-band-64k`),
    flushPkt,
  ])
  const { said, result } = await push(Buffer.concat([commands, missing.subarray(missing.indexOf('PACK'))]))
  expect(said).toContain('ng refs/heads/x missing necessary objects')
  expect(result.problem).toBe('missing necessary objects')
  await unchanged()
})

test('a branch that would not be a commit is refused', async () => {
  const blob = await git(copy, 'rev-parse', 'HEAD:big')
  const empty = await pushBody(copy, [{ old: head, new: head, ref: 'refs/heads/x' }])
  const commands = Buffer.concat([pkt(`${zeroOid} ${blob} refs/heads/x\0report-status`), flushPkt])
  const { result } = await push(Buffer.concat([commands, empty.subarray(empty.indexOf('PACK'))]))
  expect(result.rejected).toMatchObject([{ reason: 'bad-object' }])
  await unchanged()
})

test('bytes that are changed, cut or added never break the server, nor move a ref to something broken', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.nat(255),
      fc.constantFrom('change', 'cut', 'insert'),
      async (place, byte, how) => {
        const at = place % body.length
        const data = Buffer.from(body)
        if (how === 'change') data[at] = byte
        const input =
          how === 'cut'
            ? data.subarray(0, at)
            : how === 'insert'
              ? Buffer.concat([data.subarray(0, at), Buffer.from([byte]), data.subarray(at)])
              : data
        // A refusing guard, so that the rare change that does no harm moves nothing either.
        const guard = { check: async () => [{ ref: world.main, message: 'no' }] }
        const { result } = await push(input, { guard })
        expect(result.applied).toEqual([])
      },
    ),
    { numRuns: 60 },
  )
  await unchanged()
})

test('a client that goes away in the midst of its pack leaves nothing', async () => {
  const input = new PassThrough()
  const pushing = push(input)
  input.write(body.subarray(0, body.length - 10))
  await sleep(50)
  input.destroy(new Error('ECONNRESET'))
  expect((await pushing).result.problem).toBe('the remote end hung up unexpectedly')
  await unchanged()
})

test('a push is stopped from outside, as long as nothing has moved', async () => {
  const input = new PassThrough()
  const controller = new AbortController()
  const pushing = push(input, { signal: controller.signal })
  input.write(body.subarray(0, body.length - 10))
  await sleep(50)
  controller.abort()
  await expect(pushing).rejects.toMatchObject({ failure: 'aborted' })
  await unchanged()
})

test('a client that does not close its side after the pack gets its answer', async () => {
  const input = new PassThrough()
  input.write(body)
  const { said } = await push(input, { guard: { check: async () => [{ ref: world.main, message: 'no' }] } })
  expect(said).toContain('unpack ok')
  await unchanged()
})

test('nor does a refused one wait for the other side to close', async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const broken = Buffer.from(body)
  broken.writeUInt8(broken.at(-1)! ^ 1, broken.length - 1)
  input.write(broken)
  const pushing = receivePack(world.repository, input, output, { guard: allowAll, journal: world.journal })
  let said = ''
  output.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await expect.poll(() => said).toContain('ng refs/heads/main unpacker error')
  input.end()
  expect((await pushing).applied).toEqual([])
  await unchanged()
})

test('lines that can not be made fail no push', async () => {
  const copy2 = await world.clone('b')
  const next = await world.commit(copy2, 'three')
  const ref = 'refs/heads/other'
  const { said, result } = await push(await pushBody(copy2, [{ old: zeroOid, new: next, ref }]), {
    afterwards: () => Promise.reject(new Error('no links')),
  })
  expect(said).toContain(`ok ${ref}`)
  expect(said).not.toContain('internal')
  expect(result).toMatchObject({ applied: [{ ref }], problem: 'no links' })
})

test('a fetch waits for a slow client', async () => {
  const output = new PassThrough()
  const want = Buffer.concat([
    pkt(`want ${head} side-band-64k ofs-delta no-progress\n`),
    flushPkt,
    pkt('done\n'),
  ])
  const sending = uploadPack(world.repository, Readable.from([want]), output, {
    version: 0,
    statelessRpc: true,
  })
  await sleep(300)
  expect(output.readableLength + output.writableLength).toBeLessThan(300_000)
  let size = 0
  output.on('data', (chunk: Buffer) => (size += chunk.length))
  expect(await sending).toEqual({ refsOnly: false, hungUp: false, complaint: undefined })
  expect(size).toBeGreaterThan(4_000_000)
})

test('a fetch whose client goes away ends', async () => {
  const output = new PassThrough()
  const want = Buffer.concat([pkt(`want ${head} side-band-64k\n`), flushPkt, pkt('done\n')])
  const sending = uploadPack(world.repository, Readable.from([want]), output, {
    version: 0,
    statelessRpc: true,
  })
  await sleep(100)
  output.destroy()
  expect(await sending).toMatchObject({ hungUp: true })
})

test.each([0, 1, 2] as const)('nonsense to fetch from is answered over version %i', async (version) => {
  const refs = () => loadRefs(world.repository)
  for (const input of [
    '',
    'zzzz',
    '0000',
    '0007abc',
    pkt('want x').toString(),
    pkt('command=frotz').toString() + '0000',
    pkt('command=ls-refs').toString(),
  ]) {
    const output = new PassThrough()
    output.resume()
    const outcome = await uploadPack(world.repository, Readable.from([Buffer.from(input)]), output, {
      version,
      statelessRpc: true,
      refs,
    })
    expect(outcome.hungUp).toBe(false)
  }
})

test('a whole conversation over two streams, as SSH has it', async () => {
  const output = new PassThrough()
  const input = new PassThrough()
  const greeting = advertiseRefs(world.repository, 'git-upload-pack', {
    refs: await loadRefs(world.repository),
    version: 0,
    http: false,
  })
  const talking = uploadPack(world.repository, input, output, { version: 0, statelessRpc: false })
  const first = await new Promise<Buffer>((resolve) => output.once('data', resolve))
  expect(first.toString()).toContain(greeting.toString().slice(4, 50))
  output.resume()
  input.end(flushPkt)
  expect(await talking).toEqual({ refsOnly: false, hungUp: false, complaint: undefined })
})

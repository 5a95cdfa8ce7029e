import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { collect } from '../src/areas/container-registry/index.ts'
import { FolderContent, Uploads } from '../src/blobs/index.ts'
import { Database } from '../src/kernel/db/index.ts'
import { createLogger } from '../src/kernel/log/index.ts'
import type { BareFiles } from './bare-files.ts'
import { Child } from './child.ts'
import { databaseOf } from './database.ts'
import { FreshService } from './fresh-service.ts'
import { load } from './http-load.ts'
import type { Service } from './service.ts'
import { rootToken } from './world.ts'

/*
 * The registry of images against bare files over HTTP in the same run:
 *   npm run bench:registry -- [--size <MiB of a layer>] [--attempts <times of each transfer>]
 *     [--blobs <number to collect>] [--seconds <of each window>]
 */
const { values } = parseArgs({
  options: {
    size: { type: 'string' },
    attempts: { type: 'string' },
    blobs: { type: 'string' },
    seconds: { type: 'string' },
  },
})
const size = Number(values.size ?? 256) * 1024 * 1024
const blobs = Number(values.blobs ?? 100_000)
const seconds = Number(values.seconds ?? 3)
/** Times that each transfer is made; the best counts, since this machine may have other work. */
const attempts = Number(values.attempts ?? 7)
const name = 'root/images/bench'

const say = (what: string, figure: string): void => console.log(`${what.padEnd(52)} ${figure}`)
const rate = (bytes: number, milliseconds: number): string =>
  `${(bytes / 1024 / 1024 / (milliseconds / 1000)).toFixed(0)} MiB/s`

const piece = Buffer.alloc(1024 * 1024, 'layers of an image, ')

function* pieces(): Generator<Buffer> {
  for (let left = size; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(left, piece.length))
}

const layer = (): Readable => Readable.from(pieces(), { objectMode: false, highWaterMark: 4 * piece.length })

interface Answered {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: number
  readonly milliseconds: number
}

/** One request, whose answer is read and thrown away. */
function ask(
  method: string,
  url: string,
  { headers = {}, body }: { headers?: Record<string, string | number>; body?: Readable | string } = {},
): Promise<Answered> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          bytes,
          milliseconds: performance.now() - begun,
        }),
      )
    })
    sent.on('error', reject)
    if (body instanceof Readable) body.pipe(sent)
    else sent.end(body)
  })
}

function expectStatus(answer: Answered, status: number): Answered {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}`)
  return answer
}

/** The most memory that a process has had, in MiB; Linux only. */
async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024)
}

async function signIn(service: Service): Promise<string> {
  const response = await fetch(
    `${service.url}/jwt/auth?service=container_registry&scope=repository:${name}:pull,push`,
    { headers: { authorization: `Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}` } },
  )
  return `Bearer ${((await response.json()) as { token: string }).token}`
}

async function pushLayer(service: Service, digest: string): Promise<Answered> {
  const authorization = await signIn(service)
  const begun = expectStatus(
    await ask('POST', `${service.url}/v2/${name}/blobs/uploads/`, { headers: { authorization } }),
    202,
  )
  const answer = await ask('PUT', `${service.url}${begun.headers.location!}?digest=${digest}`, {
    headers: { authorization, 'content-length': size },
    body: layer(),
  })
  return expectStatus(answer, 201)
}

async function transfers(service: Service, bare: string, digest: string): Promise<void> {
  const before = await peakMemory(service.pid)
  const up = { bare: Infinity, service: Infinity }
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const put = await ask('PUT', bare, { headers: { 'content-length': size }, body: layer() })
    up.bare = Math.min(up.bare, put.milliseconds)
    up.service = Math.min(up.service, (await pushLayer(service, digest)).milliseconds)
  }
  say(`push of a layer of ${size / 1024 / 1024} MiB, the best of ${attempts}`, rate(size, up.service))
  say('  bare', `${rate(size, up.bare)}; ratio ${(up.bare / up.service).toFixed(2)}`)
  const url = `${service.url}/v2/${name}/blobs/${digest}`
  const down = { bare: Infinity, service: Infinity }
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    down.bare = Math.min(down.bare, (await ask('GET', bare)).milliseconds)
    const authorization = await signIn(service)
    const pulled = expectStatus(await ask('GET', url, { headers: { authorization } }), 200)
    if (pulled.bytes !== size) throw new Error('a part of the layer is missing')
    down.service = Math.min(down.service, pulled.milliseconds)
  }
  say(`pull of it, the best of ${attempts}`, rate(size, down.service))
  say('  bare', `${rate(size, down.bare)}; ratio ${(down.bare / down.service).toFixed(2)} (must: 0.8)`)
  say('memory of the service, most, before and after', `${before} and ${await peakMemory(service.pid)} MiB`)
}

async function manifests(service: Service): Promise<void> {
  const authorization = await signIn(service)
  const config = '{}'
  const configDigest = `sha256:${createHash('sha256').update(config).digest('hex')}`
  expectStatus(
    await ask('POST', `${service.url}/v2/${name}/blobs/uploads/?digest=${configDigest}`, {
      headers: { authorization, 'content-length': config.length },
      body: config,
    }),
    201,
  )
  const type = 'application/vnd.oci.image.manifest.v1+json'
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: type,
    config: {
      mediaType: 'application/vnd.oci.image.config.v1+json',
      digest: configDigest,
      size: config.length,
    },
    layers: [],
  })
  const address = `/v2/${name}/manifests/latest`
  expectStatus(
    await ask('PUT', service.url + address, {
      headers: { authorization, 'content-type': type, 'content-length': manifest.length },
      body: manifest,
    }),
    201,
  )
  const requests = [{ method: 'GET', path: address, headers: { authorization } }]
  const order = { port: service.port, connections: 32, requests }
  await load({ ...order, seconds: 1 })
  const result = await load({ ...order, seconds })
  say('manifest by tag', `${result.rate.toFixed(0)}/s, p99 ${result.p99.toFixed(1)} ms (must: 1,500/s)`)
}

async function pullsAtOnce(service: Service): Promise<void> {
  const authorization = await signIn(service)
  const content = Buffer.alloc(8 * 1024 * 1024, 'a smaller layer ')
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
  const body = Readable.from([content], { objectMode: false })
  const pushed = await ask('POST', `${service.url}/v2/${name}/blobs/uploads/?digest=${digest}`, {
    headers: { authorization, 'content-length': content.length },
    body,
  })
  expectStatus(pushed, 201)
  const begun = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      ask('GET', `${service.url}/v2/${name}/blobs/${digest}`, { headers: { authorization } }),
    ),
  )
  const whole = answers.filter(({ status, bytes }) => status === 200 && bytes === content.length).length
  say(
    '100 pulls of 8 MiB at once',
    `${rate(content.length * whole, performance.now() - begun)}, ${whole} whole`,
  )
}

async function collecting(directory: string): Promise<void> {
  const connection = await databaseOf(directory)
  await using db = new Database({ connection, log: createLogger('warn') })
  const folder = path.join(directory, 'data', 'registry')
  const content = new FolderContent(path.join(folder, 'content'))
  const digests = Array.from({ length: blobs }, (_, index) =>
    createHash('sha256').update(`garbage ${index}`).digest('hex'),
  )
  const folders = new Set(
    digests.map((hex) => path.join(folder, 'content', 'sha256', hex.slice(0, 2), hex.slice(2, 4))),
  )
  for (const made of folders) await mkdir(made, { recursive: true })
  for (let at = 0; at < digests.length; at += 500) {
    await Promise.all(
      digests
        .slice(at, at + 500)
        .map((hex) =>
          writeFile(path.join(folder, 'content', 'sha256', hex.slice(0, 2), hex.slice(2, 4), hex), 'x'),
        ),
    )
  }
  await sql`
    insert into container_blobs (digest, size, touched_at)
    select 'sha256:' || d, 1, now() - interval '10 days' from unnest(${digests}::text[]) d`.execute(db.writer)
  const begun = performance.now()
  const collected = await collect({ db, content, uploads: new Uploads(path.join(folder, 'uploads')) }, 24)
  const took = (performance.now() - begun) / 1000
  say(`garbage collection of ${blobs} blobs`, `${took.toFixed(1)} s, ${collected.blobs} removed`)
}

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const hash = createHash('sha256')
  for (const part of pieces()) hash.update(part)
  const digest = `sha256:${hash.digest('hex')}`

  const files = stack.use(new Child<BareFiles>(new URL('./bare-files.ts', import.meta.url)))
  const service = stack.use(await FreshService.start({ ROLES: 'web' }))
  const { directory } = service
  const bare = `http://127.0.0.1:${await files.call('serve', path.join(directory, 'bare'))}/`
  await service.make('/projects', { name: 'images', path: 'images' })
  await transfers(service, bare, digest)
  await manifests(service)
  await pullsAtOnce(service)
  await collecting(directory)
}

await main()

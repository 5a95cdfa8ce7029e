import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusalOf, type OutboundRules } from './address-rules.ts'
import { Outbound } from './outbound.ts'

const strict: OutboundRules = { allowLocal: false, onlyAllowed: false, allowed: [], pinned: true }
const target = (address: string) => ({ host: 'files.example.test', port: 443, address })

describe('addresses', () => {
  test.each([
    ['127.0.0.1', 'localhost'],
    ['127.8.8.8', 'loopback addresses'],
    ['0.0.0.0', 'localhost'],
    ['::1', 'localhost'],
    ['::ffff:127.0.0.1', 'localhost'],
    ['169.254.169.254', 'the link local network'],
    ['fe80::1', 'the link local network'],
    ['100.64.3.4', 'the shared address space'],
    ['255.255.255.255', 'the limited broadcast address'],
    ['224.0.0.1', 'multicast addresses'],
    ['10.1.2.3', 'the local network'],
    ['172.31.0.1', 'the local network'],
    ['192.168.1.1', 'the local network'],
    ['::ffff:10.0.0.1', 'the local network'],
    ['64:ff9b::a00:1', 'the local network'],
    ['fd00::1', 'the local network'],
  ])('%s is refused', (address, what) => {
    expect(refusalOf(target(address), strict)).toBe(`Requests to ${what} are not allowed`)
    expect(refusalOf(target(address), { ...strict, allowLocal: true })).toBeUndefined()
  })

  test('what the machine itself is called is refused as localhost, also where others may reach it', () => {
    const own = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
    const refusals = own.map(({ address }) => refusalOf(target(address), strict))
    expect(new Set(refusals)).toEqual(new Set(['Requests to localhost are not allowed']))
  })

  test.each(['93.184.216.34', '2606:2800:220:1::1', '172.32.0.1'])('%s is open', (address) => {
    expect(refusalOf(target(address), strict)).toBeUndefined()
  })

  test.each([
    ['10.1.2.3', true],
    ['10.0.0.0/8', true],
    ['files.example.test', true],
    ['FILES.example.test:443', true],
    ['10.1.2.3:443', true],
    ['10.1.2.3:80', false],
    ['other.example.test', false],
    ['10.2.0.0/16', false],
    ['10.0.0.0/99', false],
    ['fd00::/8', false],
    ['', false],
  ])('%j in the list of what is allowed', (entry, open) => {
    const refused = refusalOf(target('10.1.2.3'), { ...strict, allowed: [entry] })
    expect(refused === undefined).toBe(open)
  })

  test('everything can be closed but for the list', () => {
    const rules = { allowLocal: true, onlyAllowed: true, allowed: ['files.example.test'], pinned: true }
    expect(refusalOf(target('93.184.216.34'), rules)).toBeUndefined()
    expect(refusalOf({ ...target('93.184.216.34'), host: 'x.test' }, rules)).toMatch(/Allow List/)
  })
})

describe('requests', () => {
  let server: Server
  let port: number
  const outbound = new Outbound(() => ({ ...strict, allowed: [`127.0.0.1:${port}`] }))
  const get = (path: string, options = {}) =>
    outbound.getText(`http://127.0.0.1:${port}${path}`, { maximumBytes: 100, timeout: 5000, ...options })
  const pages: Record<string, RequestListener> = {
    '/text': (_, reply) => reply.end('hello'),
    '/long': (_, reply) => reply.end('x'.repeat(1_000_000)),
    '/missing': (_, reply) => reply.writeHead(404).end('nothing'),
    '/moved': (_, reply) => reply.writeHead(302, { location: '/text' }).end(),
    '/inwards': (_, reply) => reply.writeHead(302, { location: `http://localhost:${port + 1}/` }).end(),
    '/circle': (_, reply) => reply.writeHead(302, { location: '/circle' }).end(),
    '/file': (_, reply) => reply.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    '/silent': () => undefined,
    '/broken': (request) => request.socket.destroy(),
  }
  beforeAll(async () => {
    server = createServer((request, reply) => pages[request.url!]!(request, reply))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test.each([
    ['/text', { status: 200, text: 'hello' }],
    ['/long', { status: 200, text: 'x'.repeat(101) }],
    ['/missing', { status: 404, text: 'nothing' }],
    ['/moved', { status: 200, text: 'hello' }],
    ['/inwards', { blocked: 'Requests to localhost are not allowed' }],
    ['/circle', { failed: 'http' }],
    ['/file', { blocked: 'Only allowed schemes are http, https' }],
    ['/broken', { failed: 'socket' }],
  ])('%s', async (path, answer) => expect(await get(path)).toMatchObject(answer))

  test('end in time', async () =>
    expect(await get('/silent', { timeout: 100 })).toEqual({ failed: 'timeout' }))

  test('go to no host that is none', async () => {
    const options = { maximumBytes: 9, timeout: 5000 }
    const { failed, ...rest } = (await outbound.getText('http://nowhere.invalid/', options)) as Record<
      string,
      unknown
    >
    expect([failed, rest]).toEqual([undefined, { blocked: 'Host cannot be resolved or invalid' }])
    expect(await outbound.getText('gopher://x.test/', options)).toEqual({
      blocked: 'Only allowed schemes are http, https',
    })
  })
})

// @module-tag long
import path from 'node:path'
import net from 'node:net'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { Person } from '../world/client.ts'
import { copyDatabase } from '../world/databases.ts'
import { Mailbox } from '../world/mailbox.ts'
import { expectStatus } from '../world/world.ts'
import { freePort, Program, temporaryFolder } from './process.ts'

const token = 'root-token-of-this-test'
const locked =
  "select locked_by, locked_at from graphile_worker.jobs where task_identifier = 'mail:send' and locked_at is not null"

test('a task that a killed service was at is done by the next one, and not by another meanwhile', async () => {
  await using folder = await temporaryFolder()
  await using database = await copyDatabase(inject('postgres'))
  await using db = await connect(database.url)
  await using silent = await silentServer()
  await using mailbox = await Mailbox.open()
  const environment = async (smtp: string): Promise<NodeJS.ProcessEnv> => ({
    PORT: String(await freePort()),
    DATA_DIR: path.join(folder.path, 'data'),
    DATABASE_URL: database.url,
    ROOT_TOKEN: token,
    SMTP_URL: smtp,
    ROLES: 'web,tasks',
  })
  const start = async (env: NodeJS.ProcessEnv): Promise<Program & { url: string }> => {
    const url = `http://127.0.0.1:${env['PORT']}`
    const program = new Program(['serve'], env)
    await program.ready(url)
    return Object.assign(program, { url })
  }

  await using first = await start(await environment(silent.url))
  const root = new Person(first.url, { id: 1, username: 'root', token })
  const person = { username: 'ada', name: 'Ada', email: 'ada@example.com', force_random_password: true }
  const { id } = expectStatus(await root.post('/users', { ...person, skip_confirmation: true }), 201)
  expectStatus(await root.post(`/users/${id as number}/deactivate`), 201)
  const holders = async (): Promise<unknown[]> => (await db.query(locked)).rows
  await expect.poll(holders).toHaveLength(1)
  const holder = await holders()

  // One that starts beside it has looked when it is ready, and seen that it lives.
  await using second = await start(await environment(mailbox.url))
  expectStatus(await new Person(second.url, { id: 1, username: 'root', token }).get('/user'), 200)
  expect(await holders()).toEqual(holder)
  expect(mailbox.received).toEqual([])

  first.kill('SIGKILL')
  await first.ended
  await mailbox.to(person.email)
})

async function connect(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client(url)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

/** A server of mail that takes connections and says nothing. */
async function silentServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `smtp://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { Mailbox } from '../world/mailbox.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'

let world: World
let mailbox: Mailbox
beforeAll(async () => {
  mailbox = await Mailbox.open()
  world = await startWorld({ SMTP_URL: mailbox.url })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mailbox[Symbol.asyncDispose]()
})

const addressOf = ({ username }: Person): string => `${username}@example.com`
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** Runs a task of the schedule now, and waits until it is done. */
async function run(name: string): Promise<void> {
  const { writer, reader } = world.service.services.db
  await sql`select graphile_worker.add_job(${name}::text, '{}'::json)`.execute(writer)
  await vi.waitFor(
    async () => {
      const { rows } =
        await sql`select from graphile_worker.jobs j where j.task_identifier = ${name}`.execute(reader)
      expect(rows).toEqual([])
    },
    { timeout: 20_000, interval: 20 },
  )
}

test('a new member is told, and told again when role or end change; who leaves or comes by himself is not', async () => {
  const group = await world.group()
  const person = await world.user()
  const member = `/groups/${group.id}/members/${person.id}`
  expectStatus(
    await world.root.post(`/groups/${group.id}/members`, {
      user_id: person.id,
      access_level: 30,
      expires_at: day(30),
    }),
    201,
  )
  const [joined] = await mailbox.to(addressOf(person))
  expect(joined).toMatchObject({ subject: `Access to ${group.name}` })
  expect(joined!.text).toContain(`access to ${group.full_path} as Developer, until ${day(30)}.`)

  expectStatus(await world.root.put(member, { access_level: 20, expires_at: '' }), 200)
  const [, changed] = await mailbox.to(addressOf(person), 2)
  expect(changed!.text).toContain('Your role is now Reporter.')
  expect(changed!.text).toContain('Your membership does not end any more.')

  // Nothing changes, and nothing is told; several at once are told each.
  expectStatus(await world.root.put(member, { access_level: 20 }), 200)
  const other = await world.user()
  expectStatus(
    await world.root.post(`/groups/${group.id}/members`, {
      user_id: `${person.id},${other.id}`,
      access_level: 40,
    }),
    201,
  )
  const [, , raised] = await mailbox.to(addressOf(person), 3)
  expect(raised!.text).toContain('Your role is now Maintainer.')
  expect(raised!.text).not.toContain('ends')
  await mailbox.to(addressOf(other))
})

test('who looks after members is told of a request, and who asked of a refusal', async () => {
  const project = await world.project({ visibility: 'public' })
  const maintainer = await world.member({ project }, 'maintainer')
  const developer = await world.member({ project }, 'developer')
  const asking = await world.user()
  expectStatus(await asking.post(`/projects/${project.id}/access_requests`), 201)
  const [, asked] = await mailbox.to(addressOf(maintainer), 2)
  expect(asked!.subject).toBe(`Name of ${asking.username} asks for access to ${project.name}`)
  expectStatus(await maintainer.delete(`/projects/${project.id}/access_requests/${asking.id}`), 204)
  const [refused] = await mailbox.to(addressOf(asking))
  expect(refused!.subject).toBe(`Your request to join ${project.name} was refused`)
  expect(mailbox.received.filter(({ to }) => to.includes(addressOf(developer)))).toHaveLength(1)
})

test('members are told a week before their membership ends, once', async () => {
  const group = await world.group()
  const soon = await world.user()
  const late = await world.user()
  const add = (person: Person, days: number) =>
    world.root.post(`/groups/${group.id}/members`, {
      user_id: person.id,
      access_level: 30,
      expires_at: day(days),
    })
  expectStatus(await add(soon, 7), 201)
  expectStatus(await add(late, 8), 201)
  await run('members:warn-of-end')
  const [, warned] = await mailbox.to(addressOf(soon), 2)
  expect(warned!.subject).toBe(`Your membership in ${group.name} ends on ${day(7)}`)
  await run('members:warn-of-end')
  await mailbox.to(addressOf(late))
  const told = (person: Person) => mailbox.received.filter(({ to }) => to.includes(addressOf(person)))
  expect([told(soon).length, told(late).length]).toEqual([2, 1])
  // Another end is told of anew: of the change, and a week before.
  expectStatus(
    await world.root.put(`/groups/${group.id}/members/${soon.id}`, { access_level: 30, expires_at: day(5) }),
    200,
  )
  await run('members:warn-of-end')
  await mailbox.to(addressOf(soon), 4)
})

test('an invitation is mailed, and reminded of after 2, 5 and 10 days', async () => {
  const group = await world.group()
  const email = 'not-here-yet@example.com'
  expectStatus(await world.root.post(`/groups/${group.id}/invitations`, { email, access_level: 30 }), 201)
  const [invited] = await mailbox.to(email)
  expect(invited!.subject).toMatch(new RegExp(`invites you to join ${group.name}$`))
  expect(invited!.text).toContain(`/users/sign_up`)
  const id = rowsOf(await world.root.get(`/groups/${group.id}/invitations`))[0]!['id'] as number
  const age = (days: number) =>
    sql`update invitations set created_at = now() - make_interval(days => ${days}::int) where id = ${id}`.execute(
      world.service.services.db.writer,
    )
  for (const [days, mails] of [
    [1, 1],
    [2, 2],
    [4, 2],
    [5, 3],
    [11, 4],
    [20, 4],
  ] as const) {
    await age(days)
    await run('invitations:remind')
    await mailbox.to(email, mails)
    expect(mailbox.received.filter(({ to }) => to.includes(email))).toHaveLength(mails)
  }
  expect(rowsOf(await world.root.get(`/groups/${group.id}/invitations`))).toHaveLength(1)
})

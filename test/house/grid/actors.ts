import { sql } from 'kysely'
import { Client, Person } from '../../world/client.ts'
import { expectStatus, roles, type Json, type RoleName, type World } from '../../world/world.ts'
import type { ActorName, Row } from './rows.ts'

/** Somebody of the grid: who calls, and whose user it is. */
export interface Caller {
  readonly name: ActorName
  readonly client: Client
  /** 0 for nobody. */
  readonly userId: number
}

const roleNames = Object.keys(roles) as RoleName[]

/** The people of the grid, made once: each is a direct member with the role of the name, wherever they are let in. */
export class Cast {
  readonly world: World
  readonly stranger: Person
  readonly admin: Person
  readonly members: Readonly<Record<RoleName, Person>>
  /** An owner, blocked later, with the token from before. */
  readonly blocked: Person
  readonly blockedAdmin: Person
  /** Let in beside those of the grid, wherever they are. */
  readonly others: Json[] = []
  readonly #expired: Readonly<Record<'owner' | 'admin', Client>>
  readonly #reading: Readonly<Record<'owner' | 'admin', Client>>

  private constructor(world: World, people: Person[], tokens: Client[]) {
    this.world = world
    const [stranger, admin, blocked, blockedAdmin, ...members] = people as [
      Person,
      Person,
      Person,
      Person,
      ...Person[],
    ]
    this.stranger = stranger
    this.admin = admin
    this.blocked = blocked
    this.blockedAdmin = blockedAdmin
    this.members = Object.fromEntries(roleNames.map((role, index) => [role, members[index]!])) as Record<
      RoleName,
      Person
    >
    this.#expired = { owner: tokens[0]!, admin: tokens[1]! }
    this.#reading = { owner: tokens[2]!, admin: tokens[3]! }
  }

  static async make(world: World): Promise<Cast> {
    const people = await Promise.all([
      world.user(),
      world.user({ admin: true }),
      world.user(),
      world.user({ admin: true }),
      ...roleNames.map(() => world.user()),
    ])
    const owners = [people.at(-1)!, people[1]]
    const expired = await Promise.all(owners.map(({ id }) => world.token(id, ['api'], { name: 'expired' })))
    await sql`update personal_access_tokens set expires_at = '2020-01-01' where name = 'expired'`.execute(
      world.service.services.db.writer,
    )
    const reading = await Promise.all(owners.map(({ id }) => world.token(id, ['read_api'])))
    const clients = [...expired, ...reading].map((token) => new Client(world.url, { 'private-token': token }))
    const cast = new Cast(world, people, clients)
    return cast
  }

  /** From here on the blocked ones are blocked; they have to be let in before by nobody. */
  async block(): Promise<void> {
    for (const person of [this.blocked, this.blockedAdmin]) {
      expectStatus(await this.world.root.post(`/users/${person.id}/block`), 201)
    }
  }

  /** Makes everybody with a role a direct member of a project or group. */
  async letIn(place: `/projects/${number}` | `/groups/${number}`): Promise<void> {
    const entries = roleNames.map((role) => ({
      user_id: String(this.members[role].id),
      access_level: roles[role],
    }))
    entries.push({ user_id: String(this.blocked.id), access_level: roles.owner })
    for (const entry of [...entries, ...this.others])
      expectStatus(await this.world.root.post(`${place}/members`, entry), 201)
  }

  /** Everybody who calls in a row, in the order of the columns. */
  callersOf({ expected }: Row): Caller[] {
    const byRole = ({ id }: Person, name: ActorName, client: Client): Caller => ({ name, client, userId: id })
    // Where only administrators may, the three last ones are an administrator too.
    const adminOnly = expected.owner >= 400 && expected.admin < 400
    const [same, blocked, kind] = adminOnly
      ? ([this.admin, this.blockedAdmin, 'admin'] as const)
      : ([this.members.owner, this.blocked, 'owner'] as const)
    return [
      { name: 'anonymous', client: this.world.anonymous, userId: 0 },
      byRole(this.stranger, 'signed_in_stranger', this.stranger),
      ...roleNames.map((role) => byRole(this.members[role], role, this.members[role])),
      byRole(this.admin, 'admin', this.admin),
      byRole(blocked, 'blocked_user', blocked),
      byRole(same, 'expired_token', this.#expired[kind]),
      byRole(same, 'token_scope_read_api_only', this.#reading[kind]),
    ]
  }
}

export function idOf(thing: Json): number {
  return thing['id'] as number
}

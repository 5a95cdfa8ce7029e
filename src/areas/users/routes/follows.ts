import { endpoint, instance, isAdministrator, userOf, type Actor } from '../../../access/index.ts'
import { sql, type Reader, type Writer } from '../../../kernel/db/index.ts'
import { Answer, Fields, Id, ListOf, page, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { notFound, refused } from '../../../kernel/errors/index.ts'
import { basicUser, BasicUser, basicUserJson, type BasicUserRow } from '../basic.ts'
import type { UserServices } from '../services.ts'

/** As many as one user may follow. */
const mostFollowed = 300

const lists = {
  followers: { summary: 'List who follows a user', other: 'follower_id', own: 'followee_id' },
  following: { summary: 'List whom a user follows', other: 'followee_id', own: 'follower_id' },
} as const

/** Who follows whom. */
export function followEndpoints({ db, externalUrl }: UserServices): Endpoint[] {
  const params = Fields({ id: Id() })
  const listing = (path: keyof typeof lists): Endpoint =>
    endpoint({
      method: 'GET',
      path: `/users/:id/${path}`,
      summary: lists[path].summary,
      description: 'Of a private profile only for the user himself and for administrators.',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      paged: true,
      params,
      answers: ListOf(BasicUser),
      refuses: { 404: 'No such user' },
      read: ({ params: { id }, page: input }) =>
        page<{ readonly user: BasicUserRow }>(
          {
            columns: sql`${basicUserJson('u')} as user`,
            from: sql`
              from user_follows f join users u on u.id = ${sql.ref(`f.${lists[path].other}`)}
              where ${sql.ref(`f.${lists[path].own}`)} = ${id} and u.state = 'active'`,
            order: sql`u.id`,
          },
          input,
        ),
      async handle({ actor, params: { id }, rows }) {
        await requireOpen(db.reader, actor, id)
        return rows.map(({ user }) => basicUser(user, externalUrl()))
      },
    })

  const changing = (act: 'follow' | 'unfollow', summary: string): Endpoint =>
    endpoint({
      method: 'POST',
      path: `/users/:id/${act}`,
      summary,
      description: 'Nothing changes where it is so already: 304.',
      on: instance,
      may: 'read_instance',
      params,
      answers: BasicUser,
      refuses: { 400: 'The caller follows as many as anybody may', 404: 'No such user' },
      async handle({ actor, params: { id } }) {
        const follower = userOf(actor).id
        const user = await active(db.reader, id)
        if (user === undefined) throw notFound('User')
        const changed =
          act === 'follow' ? await follow(db.writer, follower, id) : await unfollow(db.writer, follower, id)
        return changed ? basicUser(user, externalUrl()) : new Answer(304)
      },
    })

  return [
    changing('follow', 'Follow a user'),
    changing('unfollow', 'Follow a user no longer'),
    listing('followers'),
    listing('following'),
  ]
}

async function follow(db: Writer, follower: number, followee: number): Promise<boolean> {
  if (follower === followee) return false
  const { rows } = await sql<{ full: boolean }>`
    with mine as (select count(*) as number from user_follows f where f.follower_id = ${follower}),
    made as (
      insert into user_follows (follower_id, followee_id)
      select ${follower}::bigint, ${followee}::bigint from mine where mine.number < ${mostFollowed}
      on conflict do nothing returning 1)
    select mine.number >= ${mostFollowed} as full from mine
    where exists (select from made) or mine.number >= ${mostFollowed}`.execute(db)
  if (rows[0]?.full === true) {
    throw refused(
      400,
      `You can't follow more than ${mostFollowed} users. To follow more users, unfollow some others.`,
    )
  }
  return rows.length > 0
}

async function unfollow(db: Writer, follower: number, followee: number): Promise<boolean> {
  const { rows } = await sql`
    delete from user_follows f where f.follower_id = ${follower} and f.followee_id = ${followee} returning 1`.execute(
    db,
  )
  return rows.length > 0
}

async function active(db: Reader, id: number): Promise<BasicUserRow | undefined> {
  const { rows } = await sql<{ user: BasicUserRow }>`
    select ${basicUserJson('u')} as user from users u where u.id = ${id} and u.state = 'active'`.execute(db)
  return rows[0]?.user
}

/** Others are not told of whom there is in a private profile, nor that there is one. */
async function requireOpen(db: Reader, actor: Actor, id: number): Promise<void> {
  const { rows } = await sql<{ hidden: boolean }>`
    select u.private_profile as hidden from users u where u.id = ${id}`.execute(db)
  const mine = isAdministrator(actor) || actor.user?.id === id
  if (rows[0] === undefined || (rows[0].hidden && !mine)) throw notFound('User')
}

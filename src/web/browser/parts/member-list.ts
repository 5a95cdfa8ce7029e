import { readIfThere, readPage, write, type Page } from '../api.ts'
import { nodes, tags, type Child } from '../dom.ts'
import type { Member } from '../entities.ts'
import { me } from '../session.ts'
import { action } from './action.ts'
import { finder, searched } from './finder.ts'
import { form, type Field } from './form.ts'
import { pager, pageWanted } from './pager.ts'
import { person } from './person.ts'
import { roleName, roles } from './roles.ts'

const { details, div, h1, li, p, span, summary, ul } = tags

const perPage = 50

/** The members of a project or group. */
interface Members {
  /** Everybody with the highest role, whatever above has let them in. */
  readonly all: Page<Member>
  /** Of those: who is a member of the place itself, by id. */
  readonly direct: ReadonlyMap<number, Member>
}

/**
 * Who is in a project or group; for those who look after it with what adds, changes and removes members. `at`: the endpoint of
 * the place; `ability`: what it takes to look after it.
 */
export async function memberList(
  at: string,
  ability: 'admin_project_member' | 'admin_group_member',
): Promise<Child> {
  const [members, mayChange] = await Promise.all([readMembers(at), mayDo(at, ability)])
  const place = div()
  const draw = (found: Members): void =>
    place.replaceChildren(...nodes([rows(found, mayChange ? changes : undefined), pager(found.all)]))
  const look = async (): Promise<void> => draw(await readMembers(at))
  const changes = ({ id, access_level, expires_at }: Member): Child =>
    details(
      { className: 'opens' },
      summary('Change'),
      form([roleField(access_level), untilField(expires_at ?? '')], 'Save', async (values) => {
        await write('PUT', `${at}/members/${id}`, values)
        await look()
      }),
      action('Remove', async () => {
        await write('DELETE', `${at}/members/${id}`)
        await look()
      }),
    )
  draw(members)
  return [
    h1('Members'),
    mayChange &&
      details(
        { className: 'opens' },
        summary('Add a member'),
        form(
          [{ name: 'username', words: 'User name', required: true }, roleField(30), untilField('')],
          'Add',
          async (values) => {
            await write('POST', `${at}/members`, values)
            await look()
          },
        ),
      ),
    finder('Name of a member'),
    place,
  ]
}

async function readMembers(at: string): Promise<Members> {
  const all = await readPage<Member>(`${at}/members/all`, {
    query: searched(),
    page: pageWanted(),
    per_page: perPage,
  })
  const ids = all.items.map(({ id }) => id).join(',')
  const { items } = await readPage<Member>(`${at}/members`, { user_ids: ids, per_page: perPage })
  return { all, direct: new Map(items.map((one) => [one.id, one])) }
}

/** Only who looks after a place is told who may. */
async function mayDo(at: string, ability: string): Promise<boolean> {
  const user = await me()
  const told = await readIfThere<{ allowed: boolean; read_only: boolean }>(`${at}/access/explain`, {
    user_id: user?.id,
    ability,
  })
  return told !== undefined && told.allowed && !told.read_only
}

function rows({ all, direct }: Members, changes: ((member: Member) => Child) | undefined): Child {
  if (all.items.length === 0) return p({ className: 'soft' }, 'There are no such members.')
  return ul(
    { className: 'rows' },
    all.items.map((member) => {
      const own = direct.get(member.id)
      return li(
        person(member),
        span({ className: 'soft' }, ` @${member.username}`),
        span({ className: 'badge' }, roleName(member.access_level)),
        span(
          { className: 'soft' },
          own === undefined && ' from above',
          member.expires_at !== null && ` until ${member.expires_at}`,
        ),
        own && changes?.(own),
      )
    }),
  )
}

function roleField(level: number): Field {
  return { name: 'access_level', words: 'Role', kind: 'choice', choices: roles, value: String(level) }
}

function untilField(day: string): Field {
  return { name: 'expires_at', words: 'Until', kind: 'day', value: day, hint: 'For good, if it is empty.' }
}

import { read } from './api.ts'
import { tags, type Child } from './dom.ts'
import type { Group } from './entities.ts'
import { show, type Content } from './frame.ts'
import { address, endpoint, named, slashed } from './here.ts'
import { tabs } from './parts/tabs.ts'
import { me } from './session.ts'

const { a, div, span, strong } = tags

/** Draws a page of the group that the address names. `current`: the place it belongs to. */
export async function showInGroup(
  current: 'Projects' | 'Wiki' | 'Members',
  make: (group: Group, at: string) => Promise<Omit<Content, 'head'>>,
): Promise<void> {
  await show(async () => {
    const at = endpoint`/groups/${named('place')}`
    const [group, user] = await Promise.all([read<Group>(at, { with_projects: false }), me()])
    const { title, body } = await make(group, at)
    const whole = group.full_name
    return {
      title: title === '' ? whole : `${title} · ${whole}`,
      head: groupHead(group, current, user !== undefined),
      body,
    }
  })
}

function groupHead(
  { full_name: name, full_path: path, visibility, wiki_access_level: wiki }: Group,
  current: string,
  isUser: boolean,
): Child {
  const names = name.split(' / ')
  const parts = path.split('/')
  const here = address`/groups/${slashed(path)}`
  return [
    div(
      { className: 'where' },
      names.map((one, index) => [
        index > 0 && span({ className: 'soft' }, ' / '),
        a(
          { href: address`/groups/${slashed(parts.slice(0, index + 1).join('/'))}` },
          index === names.length - 1 ? strong(one) : one,
        ),
      ]),
      span({ className: 'badge' }, visibility),
    ),
    tabs(
      'Places of the group',
      [
        ['Projects', here],
        ...(wiki === 'disabled' ? [] : [['Wiki', `${here}/-/wikis`] as const]),
        // Only users are told who is in.
        ...(isUser ? [['Members', `${here}/-/group_members`] as const] : []),
      ],
      current,
    ),
  ]
}

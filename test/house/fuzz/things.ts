import { expectStatus, type Json, type World } from '../../world/world.ts'

export type Things = Readonly<Record<string, string | number>>

const id = (thing: Json): number => thing['id'] as number

/** One existing object of each kind that paths name: a parameter's value by what stands before it and its name. */
export async function makeThings(world: World): Promise<Things> {
  const group = await world.group()
  const project = await world.project({ namespace_id: id(group) })
  const path = `/projects/${id(project)}`
  const member = await world.member({ project }, 'developer')
  await world.root.post(`/groups/${id(group)}/members`, { user_id: member.id, access_level: 30 })
  const user = await world.user()
  const make = async (address: string, body: Json): Promise<Json> =>
    expectStatus(await world.root.post(address, body), 201)
  await make(`${path}/variables`, { key: 'KEY', value: 'x' })
  await make(`${path}/protected_branches`, { name: 'kept' })
  const token = await make(`/users/${user.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })
  return {
    'projects :id': id(project),
    'groups :id': id(group),
    'users :id': user.id,
    'users :user_id': user.id,
    'members :user_id': member.id,
    'all :user_id': member.id,
    'user :user_id': user.id,
    'variables :key': 'KEY',
    'protected_branches :name': 'kept',
    'personal_access_tokens :id': id(token),
  }
}

/** The path with an object's name for each parameter, or other text for one of them. */
export function fillPath(path: string, things: Things, other: Readonly<Record<string, string>> = {}): string {
  const segments = path.split('/')
  return segments
    .map((segment, index) => {
      if (!segment.startsWith(':')) return segment
      const replaced = other[segment.slice(1)]
      if (replaced !== undefined) return replaced
      return encodeURIComponent(things[`${segments[index - 1]!} ${segment}`] ?? 1)
    })
    .join('/')
}

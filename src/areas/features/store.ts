import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'

const kinds = ['user', 'group', 'namespace', 'project', 'repository', 'runner'] as const
type Kind = (typeof kinds)[number]

export type NamedActors = { readonly [K in Kind]?: string | undefined }

function search(kind: Kind, name: string): RawBuilder<{ id: number }> {
  const text = name.toLowerCase()
  switch (kind) {
    case 'user':
      return sql`select u.id from users u where lower(u.username) = ${text}`
    case 'group':
      return sql`select n.id from namespaces n where n.kind = 'group' and lower(n.full_path) = ${text}`
    case 'namespace':
      return sql`select n.id from namespaces n where lower(n.full_path) = ${text}`
    case 'project':
    case 'repository':
      return sql`select p.id from projects p where lower(p.full_path) = ${text}`
    case 'runner':
      return sql`select r.id from ci_runners r where r.id = ${/^\d{1,15}$/.test(name) ? Number(name) : 0}`
  }
}

/** Those who are named, as `User:1`; undefined when nobody is. 400 for a name that nobody has. */
export async function findActors(db: Reader, named: NamedActors): Promise<string[] | undefined> {
  const asked = kinds.flatMap((kind) => {
    const list = (named[kind] ?? '').split(',').map((name) => name.trim())
    return list.filter((name) => name !== '').map((name) => ({ kind, name }))
  })
  if (asked.length === 0) return undefined
  if (asked.length > 100) throw badRequest('Too many names at once')
  const found: string[] = []
  for (const { kind, name } of asked) {
    const title = kind.charAt(0).toUpperCase() + kind.slice(1)
    const { rows } = await search(kind, name).execute(db)
    if (rows[0] === undefined) throw badRequest(`${title} ${name} is not found!`)
    found.push(`${title}:${rows[0].id}`)
  }
  return found
}

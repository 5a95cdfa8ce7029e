import { GraphQLError } from 'graphql'

/** Names a thing among all: clients have this form in their code, and cut the number off its end. */
export function globalId(type: string, id: number | string): string {
  return `gid://gitlab/${type}/${id}`
}

/** What a global id names whose type is one of `types`; throws for all else. */
export function readGlobalId<Type extends string>(
  sent: unknown,
  ...types: [Type, ...Type[]]
): { readonly type: Type; readonly id: number } {
  const [type, id] = parts(sent)
  const known = types.find((one) => one === type)
  if (known === undefined || !/^\d{1,15}$/.test(id)) throw unfit(sent, types)
  return { type: known, id: Number(id) }
}

/** The key of a discussion, whatever kind of discussion its id says it is. */
export function readDiscussionId(sent: unknown): string {
  const [type, key] = parts(sent)
  if (!type.endsWith('Discussion') || !/^[0-9a-f]{40}$/.test(key)) throw unfit(sent, ['Discussion'])
  return key
}

function parts(sent: unknown): [type: string, id: string] {
  const [, type = '', id = ''] =
    (typeof sent === 'string' ? /^gid:\/\/gitlab\/([\w:]+)\/(\w+)$/.exec(sent) : undefined) ?? []
  return [type, id]
}

function unfit(sent: unknown, types: readonly string[]): GraphQLError {
  return new GraphQLError(`${JSON.stringify(sent)} is not a global id of ${types.join(' or ')}`)
}

import { Fields, Id, Int, Nullable, Text } from '../../kernel/endpoint/index.ts'
import { avatarUrl } from '../avatars/index.ts'

export const Topic = Fields({
  id: Id(),
  name: Text({ description: 'As projects have it' }),
  title: Text(),
  description: Nullable(Text()),
  total_projects_count: Int({ description: 'Of all projects, also of those that the caller does not see' }),
  avatar_url: Nullable(Text()),
})

export interface TopicRow {
  readonly id: number
  readonly name: string
  readonly title: string
  readonly description: string | null
  readonly total_projects_count: number
  readonly avatar: string | null
}

export function topic({ avatar, ...row }: TopicRow, externalUrl: string) {
  return { ...row, avatar_url: avatarUrl(avatar, externalUrl) }
}

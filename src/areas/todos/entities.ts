import {
  Fields,
  Id,
  Json,
  Nullable,
  Optional,
  Text,
  Timestamp,
  type Static,
} from '../../kernel/endpoint/index.ts'
import { basicUser, BasicUser } from '../users/index.ts'
import type { TodoRow } from './store.ts'

const Project = Fields({
  id: Id(),
  name: Text(),
  name_with_namespace: Text(),
  path: Text(),
  path_with_namespace: Text(),
})

const Group = Fields({
  id: Id(),
  name: Text(),
  path: Text(),
  kind: Text(),
  full_path: Text(),
  parent_id: Nullable(Id()),
  avatar_url: Nullable(Text()),
  web_url: Text(),
})

export const Todo = Fields({
  id: Id(),
  project: Optional(Project),
  group: Optional(Group),
  author: Nullable(BasicUser),
  action_name: Text(),
  target_type: Text(),
  target: Json({
    description: 'The issue, merge request, epic or commit, or where somebody asks to be let in',
  }),
  target_url: Text(),
  body: Text({ description: 'The text of the note that made it, else the title of the target' }),
  state: Text({ description: 'pending or done' }),
  created_at: Timestamp(),
  updated_at: Timestamp(),
})

/** What a to-do is about, as the API shows such things. */
export interface Target {
  readonly title: string
  readonly web_url: string
  readonly entity: object
}

export function todo(row: TodoRow, target: Target, externalUrl: string): Static<typeof Todo> {
  const { project, group } = row
  return {
    id: row.id,
    ...(project !== null && {
      project: {
        id: project.id,
        name: project.name,
        name_with_namespace: project.full_name,
        path: project.path,
        path_with_namespace: project.full_path,
      },
    }),
    ...(group !== null && {
      group: {
        id: group.id,
        name: group.name,
        path: group.path,
        kind: 'group',
        full_path: group.full_path,
        parent_id: group.parent_id,
        avatar_url: null,
        web_url: `${externalUrl}/groups/${group.full_path}`,
      },
    }),
    author: row.author === null ? null : basicUser(row.author, externalUrl),
    action_name: row.action,
    target_type: row.target_kind,
    target: target.entity,
    target_url: row.note_id === null ? target.web_url : `${target.web_url}#note_${row.note_id}`,
    body: row.note ?? target.title,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

import { Id, Nullable, Text, Timestamp } from '../../kernel/endpoint/index.ts'

/** What tells which project is meant, wherever one is shown inside of something else (supporting resources, 4.4). */
export const projectIdentity = {
  id: Id(),
  description: Nullable(Text()),
  name: Text(),
  /** With the names of all groups above, see `lineName`. */
  name_with_namespace: Text(),
  path: Text(),
  path_with_namespace: Text(),
  created_at: Timestamp(),
}

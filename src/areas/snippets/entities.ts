import { isAdministrator, visibilityName, type Actor } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { BasicUser, basicUser, type BasicUserEntity, type BasicUserRow } from '../users/index.ts'

export const Snippet = Fields({
  id: Id(),
  title: Text(),
  description: Nullable(Text()),
  visibility: OneOf('private', 'internal', 'public'),
  author: Nullable(BasicUser),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  project_id: Nullable(Id()),
  web_url: Text(),
  raw_url: Text(),
  ssh_url_to_repo: Text(),
  http_url_to_repo: Text(),
  file_name: Text({ description: 'The first file' }),
  files: ListOf(Fields({ path: Text(), raw_url: Text() })),
  imported: Flag(),
  imported_from: Text(),
  repository_storage: Optional(Text({ description: 'For administrators' })),
})

export const UserAgent = Fields({
  user_agent: Text(),
  ip_address: Text(),
  akismet_submitted: Flag(),
})

export interface SnippetRow {
  readonly id: number
  readonly project_id: number | null
  /** Full path of the project. */
  readonly project_path: string | null
  readonly author: BasicUserRow | null
  readonly title: string
  readonly description: string | null
  readonly visibility: number
  readonly storage: string
  readonly default_branch: string
  readonly refs_version: number
  readonly files: readonly string[]
  readonly created_at: string
  readonly updated_at: string
}

export function snippet(
  row: SnippetRow,
  {
    actor,
    externalUrl,
    sshAddress,
    cloneRoot,
  }: { actor: Actor; externalUrl: string; sshAddress: (path: string) => string; cloneRoot: string },
): Omit<SnippetRow, 'author' | 'files' | 'visibility'> & {
  author: BasicUserEntity | null
  visibility: string
  file_name: string
  files: { path: string; raw_url: string }[]
} & Record<string, unknown> {
  const place = row.project_path === null ? '' : `/${row.project_path}`
  const url = `${externalUrl}${place}/-/snippets/${row.id}`
  const repository = `${row.project_path === null ? '' : `${row.project_path}/`}snippets/${row.id}`
  const rawOf = (path: string): string =>
    `${url}/raw/${encodeURIComponent(row.default_branch)}/${path.split('/').map(encodeURIComponent).join('/')}`
  return {
    ...row,
    visibility: visibilityName(row.visibility),
    author: row.author && basicUser(row.author, externalUrl),
    web_url: url,
    raw_url: `${url}/raw`,
    ssh_url_to_repo: sshAddress(repository),
    http_url_to_repo: `${cloneRoot}/${repository}.git`,
    file_name: row.files[0] ?? '',
    files: row.files.map((path) => ({ path, raw_url: rawOf(path) })),
    imported: false,
    imported_from: 'none',
    ...(isAdministrator(actor) && { repository_storage: row.storage }),
  }
}

import {
  Fields,
  Hash,
  Int,
  Json,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import type { Commit } from '../../git/index.ts'
import { pageName } from './pages/files.ts'
import type { PageContent } from './pages/content.ts'
import type { PageFile } from './pages/find.ts'
import { frontMatterOf } from './pages/front-matter.ts'
import type { Written } from './write.ts'

const names = {
  format: Text({ description: 'Pages pushed with Git may have others than can be chosen' }),
  slug: Text(),
  title: Text(),
}
const body = {
  content: Text(),
  encoding: OneOf('UTF-8', 'ASCII-8BIT'),
  front_matter: Hash(Json()),
}

export const Version = Fields({
  id: Text({ description: 'The `version` to ask for the page with' }),
  message: Text(),
  author_name: Text(),
  author_email: Text(),
  created_at: Timestamp(),
})

export const ListedPage = Fields({
  ...names,
  content: Optional(body.content),
  encoding: Optional(body.encoding),
  front_matter: Optional(body.front_matter),
})
export const WikiPage = Fields({ ...names, ...body })
/** The single page also says who changed it last. */
export const PageDetail = Fields({ ...names, ...body, last_version: Nullable(Version) })

export const AttachmentAnswer = Fields({
  file_name: Text(),
  file_path: Text(),
  branch: Text(),
  link: Fields({ url: Text(), markdown: Text() }),
})

export const Diff = Fields({
  old_version: Text(),
  new_version: Text(),
  old_path: Text(),
  new_path: Text(),
  diff: Text({ description: 'Unified, without the lines that name the files' }),
})

export const FoundBlob = Fields({
  basename: Text({ description: 'Path without extension' }),
  data: Text({ description: 'The line that was found' }),
  path: Text(),
  filename: Text(),
  id: Nullable(Text()),
  ref: Text(),
  startline: Int(),
  project_id: Nullable(Int()),
  group_id: Optional(Nullable(Int({ description: 'Of a wiki' }))),
})

interface Names {
  readonly format: string
  readonly slug: string
  readonly title: string
}

export function namesOf({ format, slug, title }: Names): Names {
  return { format, slug, title }
}

export interface Body {
  readonly content: string
  readonly encoding: 'UTF-8' | 'ASCII-8BIT'
  readonly front_matter: Record<string, unknown>
}

export function bodyOf({ content, encoding }: PageContent): Body {
  return { content, encoding, front_matter: frontMatterOf(content) }
}

export function pageEntity(page: PageFile, content: PageContent): Names & Body {
  return { ...namesOf(page), ...bodyOf(content) }
}

export function writtenEntity({ path, content }: Written): Names & Body {
  return { ...namesOf(pageName(path)!), ...bodyOf({ content, encoding: 'UTF-8' }) }
}

export function versionEntity({ oid, message, author }: Commit): Record<string, unknown> {
  return {
    id: oid,
    message: message.trimEnd(),
    author_name: author.name,
    author_email: author.email,
    created_at: author.date,
  }
}

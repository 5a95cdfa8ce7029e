import type { Actor, GroupSubject, ProjectSubject } from '../../access/index.ts'
import { findBlob, parsePath, readBlob, type Oid } from '../../git/index.ts'
import { languages, type Language } from '../../rendering/index.ts'
import { splitPath } from './pages/files.ts'
import type { PageContent } from './pages/content.ts'
import type { PageFile } from './pages/find.ts'
import type { Place, WikiRoom } from './services.ts'

/** Bytes of a file that a page includes. */
const largestInclude = 1024 * 1024

/** A page as a reader sees it: its links lead to pages and files of this wiki, as of the same version. */
export function renderPage(
  { texts, externalUrl }: WikiRoom,
  subject: ProjectSubject | GroupSubject,
  reader: Actor,
  where: Place,
  page: PageFile,
  { content }: PageContent,
  version: string | undefined,
): Promise<string> {
  const { kind, id, fullPath } = subject
  const site = externalUrl()
  return texts.render({
    text: content,
    language: (languages as readonly string[]).includes(page.format)
      ? (page.format as Language)
      : 'plaintext',
    reader,
    place: subject,
    wiki: true,
    links: {
      page: `${site}/${kind === 'group' ? 'groups/' : ''}${fullPath}/-/wikis`,
      file: `${site}/api/v4/${kind}s/${id}/wiki_attachments`,
      folder: splitPath(page.path).folder,
      ...(version !== undefined && { fileQuery: `?version=${encodeURIComponent(version)}` }),
    },
    readFile: (path) => includedFile(where, path),
  })
}

async function includedFile(
  { repository, commit }: { readonly repository: Place['repository']; readonly commit: Oid },
  path: string,
): Promise<string | undefined> {
  const parsed = parsePath(path)
  const found = parsed === undefined ? undefined : await findBlob(repository, commit, parsed)
  if (found === undefined || found.size > largestInclude) return undefined
  return (await readBlob(repository, found.oid, largestInclude))?.toString('utf8')
}

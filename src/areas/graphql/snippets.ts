import path from 'node:path'
import type { Asking, Shown } from './asking.ts'
import { connectionOf, type PageArguments } from './connections.ts'
import { globalId, readGlobalId } from './ids.ts'
import { pathOf, user, type ShownUser } from './people.ts'
import { projectOfSnippet } from './store.ts'

/** Those of these ids that the caller sees. */
export async function findSnippets(
  asking: Asking,
  { ids, ...asked }: PageArguments & { readonly ids: readonly unknown[] },
): Promise<unknown> {
  const found = await Promise.all(
    ids.map(async (sent) => {
      const { id } = readGlobalId(sent, ...types)
      const projectId = await projectOfSnippet(asking.services.db.reader, id)
      return asking.get<ShownSnippet>(pathOfSnippet(id, projectId))
    }),
  )
  return connectionOf(
    found.filter((one) => one !== undefined),
    asked,
    (one) => snippet(asking, one),
  )
}

const types = ['ProjectSnippet', 'PersonalSnippet', 'Snippet'] as const

/** `list`: where the API has them. */
export function listSnippets(asking: Asking, list: string, asked: PageArguments): Promise<unknown> {
  return asking.list(list, {}, asked, (row: ShownSnippet) => snippet(asking, row))
}

interface ShownSnippet extends Shown {
  readonly project_id: number | null
  readonly visibility: string
  readonly author: ShownUser | null
  readonly files: readonly { readonly path: string; readonly raw_url: string }[]
}

function snippet(asking: Asking, shown: ShownSnippet): unknown {
  const { id, project_id: projectId, files } = shown
  const own = pathOfSnippet(id, projectId)
  return {
    ...shown,
    id: globalId(projectId === null ? 'PersonalSnippet' : 'ProjectSnippet', id),
    visibilityLevel: shown.visibility,
    author: user(shown.author),
    blobs: ({ paths, ...asked }: PageArguments & { readonly paths?: readonly string[] | null }) =>
      connectionOf(
        files.filter((file) => paths == null || paths.includes(file.path)),
        asked,
        (file) => ({
          name: path.posix.basename(file.path),
          path: file.path,
          rawPath: pathOf(file.raw_url),
          rawPlainData: () => asking.file(`${own}/files/HEAD/${encodeURIComponent(file.path)}/raw`),
        }),
      ),
  }
}

/** Below `/api/v4`. */
function pathOfSnippet(id: number, projectId: number | null): string {
  return projectId === null ? `/snippets/${id}` : `/projects/${projectId}/snippets/${id}`
}

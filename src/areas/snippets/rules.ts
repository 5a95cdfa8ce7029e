import { isAdministrator, Visibility, type Actor, type VisibilityName } from '../../access/index.ts'
import { parseFilePath, type FileAction, type FilePath } from '../../git/index.ts'
import { failed, invalidParameters, type ApiError } from '../../kernel/errors/index.ts'
import { humanSize } from '../../kernel/lib/human-size.ts'

export const mostFiles = 10
const longestTitle = 255

/** A file as a caller sends it with a new snippet. */
export interface SentFile {
  readonly file_path: string
  readonly content: string
}

/** A change of a file as a caller sends it. */
export interface SentAction {
  readonly action: 'create' | 'update' | 'delete' | 'move'
  readonly file_path?: string | undefined
  readonly previous_path?: string | undefined
  readonly content?: string | undefined
}

export function checkTitle(title: string | undefined): void {
  if (title !== undefined && Array.from(title).length > longestTitle)
    throw failed(400, `Title is too long (maximum is ${longestTitle} characters)`)
}

export function checkVisibility(actor: Actor, wanted: VisibilityName, restricted: readonly string[]): number {
  if (restricted.includes(wanted) && !isAdministrator(actor))
    throw failed(403, `Visibility level ${wanted} has been restricted by your Guildhall administrator`)
  return Visibility[wanted]
}

/** The files of a new snippet. */
export function newFiles(files: readonly SentFile[], largest: number): FileAction[] {
  const actions = files.map(({ file_path, content }): FileAction => ({
    action: 'create',
    path: pathOf(file_path),
    content: contentOf(content, largest),
  }))
  checkCount(actions.length)
  return actions
}

/** What was sent, against the files there are; the number of files afterwards is checked too. */
export function changes(
  sent: readonly SentAction[],
  present: readonly string[],
  largest: number,
): FileAction[] {
  const files = new Set(present)
  const actions = sent.map((one, index): FileAction => {
    const needed = (name: 'file_path' | 'previous_path' | 'content'): string => {
      const value = one[name]
      if (value === undefined || value === '')
        throw invalidParameters([`files[${index}][${name}] is missing`])
      return value
    }
    const path = pathOf(needed('file_path'))
    switch (one.action) {
      case 'create':
        files.add(path)
        return { action: 'create', path, content: contentOf(needed('content'), largest) }
      case 'update':
        return { action: 'update', path, content: contentOf(needed('content'), largest) }
      case 'delete':
        files.delete(path)
        return { action: 'delete', path }
      case 'move': {
        const previousPath = pathOf(needed('previous_path'))
        files.delete(previousPath)
        files.add(path)
        const content = one.content === undefined ? undefined : contentOf(one.content, largest)
        return { action: 'move', path, previousPath, content }
      }
    }
  })
  checkCount(files.size)
  return actions
}

/** `content` and `file_name` alone speak of the only file there is. */
export function changeOfOnlyFile(
  sent: { readonly content?: string | undefined; readonly file_name?: string | undefined },
  present: readonly string[],
): SentAction[] {
  const [only] = present
  if (only === undefined || present.length > 1)
    throw failed(400, 'To update Snippets with multiple files, you must use the `files` parameter')
  const { content, file_name: name = only } = sent
  if (name !== only) return [{ action: 'move', file_path: name, previous_path: only, content }]
  return content === undefined ? [] : [{ action: 'update', file_path: only, content }]
}

function checkCount(count: number): void {
  if (count > mostFiles) throw failed(400, `The repository can contain at most ${mostFiles} file(s).`)
  if (count < 1) throw failed(400, 'The repository must contain at least 1 file.')
}

function pathOf(sent: string): FilePath {
  const path = parseFilePath(sent)
  if (path === undefined) throw failed(400, 'Files have an invalid path')
  return path
}

function contentOf(sent: string, largest: number): Buffer {
  const content = Buffer.from(sent)
  if (content.length > largest)
    throw failed(
      400,
      `Content is too long (${humanSize(content.length)}). The maximum size is ${humanSize(largest)}.`,
    )
  return content
}

/** What git does not take. */
export function fileProblem(problem: 'exists' | 'missing'): ApiError {
  return failed(
    400,
    problem === 'exists' ? 'A file with this name already exists' : "A file with this name doesn't exist",
  )
}

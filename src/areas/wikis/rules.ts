import { parseFilePath, type FilePath } from '../../git/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { humanSize } from '../../kernel/lib/human-size.ts'
import { hasControlCharacters } from '../../kernel/lib/control-characters.ts'
import { joinPath, splitPath } from './pages/files.ts'

const longestName = 245
const longestFolder = 255

/**
 * The slug that a title stands for (completions, 5.3): parts trimmed and their blanks collapsed, `.` and `..` resolved
 * below the root, blanks made hyphens. Everything else stays as it is.
 */
export function slugOf(title: string): string {
  const parts: string[] = []
  for (const part of title.split('/')) {
    const name = part.trim().replaceAll(/\s+/g, ' ')
    if (name === '..') parts.pop()
    else if (name !== '' && name !== '.') parts.push(name.replaceAll(' ', '-'))
  }
  return parts.join('/')
}

/** Where a page goes that gets this title: a bare name stays in its folder, any slash counts from the root. */
export function movedSlug(present: string, title: string): string {
  const wanted = slugOf(title)
  if (wanted === '' || title.includes('/')) return wanted
  return joinPath(splitPath(present).folder, wanted)
}

/** Refuses a slug that no file may have; an empty one comes of a blank title. */
export function checkSlug(slug: string): void {
  if (slug === '') throw invalid({ title: ["can't be blank"] })
  const parts = slug.split('/')
  const name = parts.pop() ?? ''
  const faults = parts
    .filter((folder) => Buffer.byteLength(folder) > longestFolder)
    .map((folder) => `exceeds the limit of ${longestFolder} bytes for directory name "${folder}"`)
  if (Buffer.byteLength(name) > longestName) faults.unshift(`exceeds the limit of ${longestName} bytes`)
  if (faults.length > 0) throw invalid({ title: faults })
  if (hasControlCharacters(slug) || parseFilePath(`${slug}.md`) === undefined)
    throw invalid({ title: ['is invalid'] })
}

/** The path of a page's file; the slug was checked. */
export function filePath(slug: string, extension: string): FilePath {
  const path = parseFilePath(`${slug}${extension}`)
  if (path === undefined) throw invalid({ title: ['is invalid'] })
  return path
}

export function checkSize(content: string, limit: number): void {
  const size = Buffer.byteLength(content)
  if (size <= limit) return
  const text = `is too long (${humanSize(size)}). The maximum size is ${humanSize(limit)}.`
  throw invalid({ content: [text] })
}

export function duplicate(): Error {
  return invalid({ base: ['Duplicate page: A page with that title already exists'] })
}

export function taken(): Error {
  return invalid({ base: ['There is already a page with the same title in that path.'] })
}

/** What the pages tell somebody whose edit began with a version that is not the page's any more. */
export const changedMeanwhile =
  'Someone edited the page the same time you did. Please check out the page and make sure your changes will not unintentionally remove theirs.'

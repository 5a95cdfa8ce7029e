import { isUtf8 } from 'node:buffer'
import { blobSize, readBlob, type Repository } from '../../../git/index.ts'
import { badRequest } from '../../../kernel/errors/index.ts'
import type { PageFile } from './find.ts'

export interface PageContent {
  readonly content: string
  readonly encoding: 'UTF-8' | 'ASCII-8BIT'
}

/** Bytes of one page that are shown; larger ones come by git only, and are read by it. */
const largest = 64 * 1024 * 1024
/** Bytes of content in one answer. */
const largestAnswer = 96 * 1024 * 1024

/** The content of a page. Bytes that are no UTF-8 are replaced, and the encoding says so. */
export async function readContent(repository: Repository, { oid }: PageFile): Promise<PageContent> {
  const size = await blobSize(repository, oid)
  if (size !== undefined && size > largest)
    throw badRequest('The page is too large to be shown; read it with Git')
  const bytes = (await readBlob(repository, oid, largest)) ?? Buffer.alloc(0)
  return { content: bytes.toString('utf8'), encoding: isUtf8(bytes) ? 'UTF-8' : 'ASCII-8BIT' }
}

/** The content of several pages, in their order. */
export async function readContents(
  repository: Repository,
  pages: readonly PageFile[],
): Promise<PageContent[]> {
  const sizes = await Promise.all(pages.map(({ oid }) => blobSize(repository, oid)))
  const total = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
  if (total > largestAnswer) throw badRequest('The pages are too large for one answer; ask for fewer')
  return Promise.all(pages.map((page) => readContent(repository, page)))
}

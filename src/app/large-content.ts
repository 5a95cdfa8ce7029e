import path from 'node:path'
import type { LargeContent } from '../areas/git-lfs/index.ts'
import { BucketContent, EitherContent, FolderContent, placeByHex } from '../blobs/index.ts'
import type { Config } from '../kernel/config/index.ts'

/** In a bucket where there is one; what was brought before there was lies on our own disk still. */
export async function openLargeContent(
  { registry: { bucket }, dataDirectory }: Pick<Config, 'registry' | 'dataDirectory'>,
  stack: AsyncDisposableStack,
): Promise<LargeContent> {
  const directory = path.join(dataDirectory, 'lfs')
  const folder = new FolderContent(directory, placeByHex)
  return {
    content:
      bucket === undefined
        ? folder
        : new EitherContent(stack.use(await BucketContent.open({ ...bucket, prefix: 'lfs/' })), folder),
    incoming: path.join(directory, 'incoming'),
  }
}

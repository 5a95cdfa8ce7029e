import path from 'node:path'
import { BucketContent, FolderContent, Uploads, type Content } from '../blobs/index.ts'
import type { Config } from '../kernel/config/index.ts'

/** The registry of container images, as the areas see it. */
export interface Images {
  readonly enabled: boolean
  /** Host and port in the names of images. */
  readonly host: () => string
  /** Hours that garbage collection leaves alone what somebody had to do with. */
  readonly grace: number
  readonly content: Content
  readonly uploads: Uploads
}

/** Uploads gather on our own disk, also where what comes of them goes to a bucket. */
export async function openImages(
  { registry, dataDirectory }: Pick<Config, 'registry' | 'dataDirectory'>,
  externalUrl: () => string,
  stack: AsyncDisposableStack,
): Promise<Images> {
  const folder = path.join(dataDirectory, 'registry')
  return {
    enabled: registry.enabled,
    host: () => (registry.url ?? new URL(externalUrl())).host,
    grace: registry.grace,
    content:
      registry.bucket === undefined
        ? new FolderContent(path.join(folder, 'content'))
        : stack.use(await BucketContent.open(registry.bucket)),
    uploads: new Uploads(path.join(folder, 'uploads')),
  }
}

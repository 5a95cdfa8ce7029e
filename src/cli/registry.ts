import { collect, wouldCollect } from '../areas/container-registry/index.ts'
import { openImages } from '../app/images.ts'
import { withDatabase } from './open.ts'
import { Trouble } from './trouble.ts'

export interface CollectOptions {
  dryRun?: boolean
  grace?: string
}

/** Garbage collection of container images, which the service also does by itself every hour. */
export function collectImages(options: CollectOptions): Promise<void> {
  return withDatabase(async ({ db, config }) => {
    await using stack = new AsyncDisposableStack()
    const images = await openImages(config, () => 'http://localhost', stack)
    const grace = options.grace === undefined ? images.grace : readHours(options.grace)
    const dry = options.dryRun === true
    const { manifests, links, blobs, bytes, uploads } = await (dry ? wouldCollect : collect)(
      { db, ...images },
      grace,
    )
    process.stdout.write(
      `${dry ? 'Would remove' : 'Removed'} ${manifests} manifests, ${links} unused links, ${blobs} blobs ` +
        `(${bytes} bytes) and ${uploads} unfinished uploads.\n`,
    )
  })
}

function readHours(text: string): number {
  // Shorter than a push may take, it would take parts of images that are on their way.
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1)
    throw new Trouble(`--grace ${text} is not a number of hours from 1 on.`)
  return Number(text)
}

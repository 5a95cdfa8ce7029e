import { Command } from 'commander'
import { collect, wouldCollect } from '../areas/container-registry/index.ts'
import { openImages } from '../app/images.ts'
import { withDatabase } from './open.ts'
import { Trouble } from './trouble.ts'

/** For operators: garbage collection of container images, which the service also does by itself every hour. */
export function registryCommand(): Command {
  const command = new Command('registry').description('look after container images')
  command
    .command('collect')
    .description('remove images and layers that nobody can reach any more; may run beside the service')
    .option('--dry-run', 'only say what would be removed')
    .option('--grace <hours>', 'leave alone what somebody had to do with since (default: REGISTRY_GRACE)')
    .action((options: { dryRun?: boolean; grace?: string }) =>
      withDatabase(async (db, config) => {
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
      }),
    )
  return command
}

function readHours(text: string): number {
  // Shorter than a push may take, it would take parts of images that are on their way.
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1)
    throw new Trouble(`--grace ${text} is not a number of hours from 1 on.`)
  return Number(text)
}

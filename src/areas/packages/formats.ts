import type { Blobs } from '../../blobs/index.ts'
import type { Answer, RequestFacts } from '../../kernel/endpoint/index.ts'
import { fileAnswer } from './content.ts'
import type { PackageServices } from './index.ts'
import type { FoundFile } from './lookup.ts'
import { noteDownload } from './store.ts'

/** What the endpoints of each format work with. */
export interface Registry extends PackageServices {
  readonly blobs: Blobs
  /** Streams a file that the caller may have. */
  readonly sendFile: (file: FoundFile, request: RequestFacts) => Promise<Answer>
}

export function openRegistry(services: PackageServices, blobs: Blobs): Registry {
  return {
    ...services,
    blobs,
    sendFile: (file, request) =>
      fileAnswer(blobs, file, request, async () => {
        if (file.stale) await noteDownload(services.db.writer, file.package_id)
      }),
  }
}

/** Programs that know nothing but HTTP Basic come with every kind of token. */
export const credentials = { basic: true, deployToken: true, jobToken: true } as const
export const reading = { ...credentials, may: 'read_package', anonymous: true } as const

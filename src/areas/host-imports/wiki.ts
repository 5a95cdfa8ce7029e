import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fetchBundle, listRefs } from '../../git/index.ts'
import { openFolder, takeBundle } from '../project-archives/index.ts'
import { gitFault, wireTo, type GitPlace } from './code.ts'
import { HostFault } from './faults.ts'
import * as store from './step-store.ts'
import type { Work } from './work.ts'

const mebibyte = 1024 * 1024

/** The pages of the wiki with their history; many repositories have a wiki that nobody has begun. */
export async function takeWiki(work: Work, place: GitPlace): Promise<void> {
  const { room, step, signal, actor, project } = work
  const found = await room.wikis.of(project, { make: false })
  const filled =
    found !== undefined && (await listRefs(await found.open(), found.refsVersion)).refs.length > 0
  let count = 0
  if (!filled) {
    await using folder = await openFolder(room.workplace)
    const file = path.join(folder.path, 'wiki.bundle')
    const size = room.settings.values.receive_max_input_size ?? 0
    await using wire = wireTo(work, place)
    const fetched = await fetchBundle(
      wire,
      'refs/heads/main',
      { maxSize: size > 0 ? size * mebibyte : undefined },
      (bundle) => pipeline(bundle, createWriteStream(file, { flags: 'wx', mode: 0o600 }), { signal }),
    ).catch((error: unknown) => {
      try {
        return gitFault(error)
      } catch (fault) {
        // As hosts answer where there is no wiki.
        if (fault instanceof HostFault && fault.constructor === HostFault) return false
        throw fault
      }
    })
    if (fetched) {
      await takeBundle(room, { actor, subject: project }, 'wiki', { file, defaultBranch: 'main' })
      count = 1
    }
  }
  await room.db.transaction((tx) => store.finish(tx, step, { fetched: count, imported: count }))
}

import { createReadStream } from 'node:fs'
import { Writable, type Readable } from 'node:stream'
import type { Actor, ProjectSubject } from '../../access/index.ts'
import {
  bundleOf,
  bundleOfKept,
  GitError,
  listRefs,
  pushOfBundle,
  takeKept,
  type PushResult,
} from '../../git/index.ts'
import type { BundleName } from './format.ts'
import type { ArchiveRoom } from './services.ts'
import { ArchiveFault } from './unpack.ts'

type BundleRoom = Pick<ArchiveRoom, 'places' | 'door' | 'wikis'>

/** Branches and tags of a project or of its wiki, or what belongs to merge requests; undefined where there is nothing. */
export async function bundleIn(
  { places, wikis }: Pick<BundleRoom, 'places' | 'wikis'>,
  project: ProjectSubject,
  which: BundleName,
): Promise<Readable | undefined> {
  if (which === 'wiki') {
    const wiki = await wikis.of(project, { make: false })
    return wiki === undefined ? undefined : bundleOf(await wiki.open(), wiki.refsVersion)
  }
  if (project.repositoryEmpty) return undefined
  const write = which === 'project' ? bundleOf : bundleOfKept
  return write(places.of(project), project.refsVersion)
}

interface Standing {
  readonly actor: Actor
  readonly subject: ProjectSubject
}

/** Takes a bundle in. Where there are branches already they have come before, and stay as they are. */
export async function takeBundle(
  room: BundleRoom,
  { actor, subject: project }: Standing,
  which: BundleName,
  { file, defaultBranch }: { readonly file: string; readonly defaultBranch: string },
): Promise<void> {
  const { door, places, wikis } = room
  if (which === 'kept') {
    await keep(room, project, file)
    return
  }
  if (which === 'project') {
    if ((await listRefs(places.of(project), project.refsVersion)).refs.length > 0) return
    await pushAll(file, `refs/heads/${defaultBranch}`, (input, output) =>
      door.receive({ actor, project, via: 'git', imports: true }, input, output, { messagePrefix: '' }),
    )
    return
  }
  const wiki = await wikis.of(project, { make: true })
  if (wiki === undefined) return
  if ((await listRefs(await wiki.open(), wiki.refsVersion)).refs.length > 0) return
  await pushAll(file, 'refs/heads/main', (input, output) =>
    wiki.receive(actor, input, output, { messagePrefix: '' }),
  )
}

/** Branches and tags come in by the door for pushes, all or none. */
async function pushAll(
  file: string,
  first: string,
  receive: (input: Readable, output: Writable) => Promise<PushResult>,
): Promise<void> {
  await reading(file, async (stream) => {
    const { input, refs } = await pushOfBundle(stream, first)
    if (refs === 0) return
    const answer = new Writable({ write: (_chunk, _encoding, done) => done() })
    const { problem, rejected } = await receive(input, answer)
    const reason = problem ?? rejected[0]?.reason
    if (reason !== undefined) throw new ArchiveFault(`The repository of the archive was not taken: ${reason}`)
  })
}

/** Commits beside the branches, each kept by a ref that only the service writes. */
async function keep({ door, places }: BundleRoom, project: ProjectSubject, file: string): Promise<void> {
  await reading(file, async (stream) => {
    const { updates, quarantine } = await takeKept(places.of(project), project.refsVersion, stream)
    await using _quarantine = quarantine
    await door.moveInternal(project, updates, quarantine)
  })
}

async function reading(file: string, take: (stream: Readable) => Promise<void>): Promise<void> {
  const stream = createReadStream(file)
  try {
    await take(stream)
  } catch (error) {
    if (error instanceof GitError && error.failure === 'protocol') {
      throw new ArchiveFault('The repository of the archive is not whole.')
    }
    throw error
  } finally {
    stream.destroy()
  }
}

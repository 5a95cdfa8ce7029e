import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { sql } from '../../../kernel/db/index.ts'
import { endpoint, group, instance, packageProject, project, type Actor } from '../../../access/index.ts'
import type { Blobs } from '../../../blobs/index.ts'
import { Answer, Json, type Endpoint, type RequestFacts } from '../../../kernel/endpoint/index.ts'
import { conflict, recordNotFound } from '../../../kernel/errors/index.ts'
import { checkLength, takeContent } from '../content.ts'
import { credentials, reading, type Registry } from '../formats.ts'
import { elsewhere } from '../forwarding.ts'
import {
  fileAt,
  fileOf,
  ofPlace,
  ofProjectId,
  type FileSearch,
  type FoundFile,
  type Place,
} from '../lookup.ts'
import { publish } from '../publish.ts'
import { readWord } from '../small-body.ts'
import { mavenFile, publishedFile, type Checksum, type MavenFile } from './rules.ts'

const path = '/projects/:id/packages/maven/:file_path'
const common = {
  method: 'GET',
  greedy: true,
  answers: Json({ description: 'The bytes of the file' }),
} as const
const refuses = { 404: 'There is no such file, and `maven_package_requests_forwarding` is off' }

/** Finds nothing where the path names nothing. */
const searchFor = (file: MavenFile | undefined): FileSearch => ({
  type: 'maven',
  key: file?.name ?? '',
  version: file?.version ?? null,
  fileName: file?.fileName ?? '',
})

/** What Maven, Gradle and sbt speak: files under paths, with their digests beside them. */
export function mavenEndpoints({ db, blobs, settings, sendFile }: Registry): Endpoint[] {
  async function shown(
    filePath: string,
    found: FoundFile | undefined,
    request: RequestFacts,
  ): Promise<Answer> {
    const file = mavenFile(filePath)
    if (file === undefined) throw recordNotFound()
    if (found === undefined) return elsewhere(settings, 'maven', filePath)
    if (file.checksum === undefined) return sendFile(found, request)
    return new Answer(
      200,
      { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' },
      await digestOf(found, file.checksum, blobs),
    )
  }

  async function findAt(place: Place, actor: Actor, filePath: string): Promise<FoundFile | undefined> {
    const source = ofPlace(place, actor)
    // Everywhere a name is that of the project which publishes it: else anybody could take anybody's.
    const own = sql`${source.where} and lower(p.full_path) = lower(k.name)`
    const where = place === 'instance' ? own : source.where
    return fileAt(db.reader, { ...source, where }, searchFor(mavenFile(filePath)))
  }

  return [
    endpoint({
      ...credentials,
      on: project,
      method: 'PUT',
      path,
      greedy: true,
      summary: 'Publish a file of a Maven package',
      description:
        'The body is the file, or a digest of one that is there. Of files of the same name the newest counts.',
      may: 'create_package',
      body: 'stream',
      answers: Json({ description: 'A message' }),
      status: 201,
      refuses: {
        400: 'The path is no good, or the file is larger than `maven_max_file_size`',
        409: 'The digest is not that of the file',
      },
      async handle({ actor, project, params, request }) {
        const file = publishedFile(params.file_path)
        const { name, version, fileName, checksum } = file
        if (checksum !== undefined) {
          const found = await fileAt(db.reader, ofProjectId(project.id), searchFor(file))
          if (found === undefined) throw recordNotFound()
          const [told] = (await readWord(request.body)).trim().split(/\s/)
          if (told?.toLowerCase() !== (await digestOf(found, checksum, blobs))) throw conflict()
          return { message: '201 Created' }
        }
        const limit = settings.limits.maven_max_file_size
        checkLength(request, limit)
        const stored = await takeContent(blobs, request.body, limit)
        await publish(db, blobs, {
          project,
          actor,
          package: { type: 'maven', name, key: name, version },
          file: { fileName, stored },
        })
        return { message: '201 Created' }
      },
    }),

    endpoint({
      ...reading,
      ...common,
      on: packageProject,
      path,
      summary: 'Get a file of a Maven package of a project',
      refuses,
      read: ({ params }) => fileOf(searchFor(mavenFile(params.file_path))),
      handle: ({ params, rows, request }) => shown(params.file_path, rows[0], request),
    }),

    endpoint({
      ...reading,
      ...common,
      on: group,
      path: '/groups/:id/-/packages/maven/:file_path',
      summary: 'Get a file of a Maven package of any project of a group',
      refuses,
      handle: async ({ actor, group, params, request }) =>
        shown(params.file_path, await findAt({ group: group.id }, actor, params.file_path), request),
    }),

    endpoint({
      ...reading,
      ...common,
      on: instance,
      may: 'use_instance',
      path: '/packages/maven/:file_path',
      summary: 'Get a file of a Maven package that bears the path of its project',
      refuses,
      handle: async ({ actor, params, request }) =>
        shown(params.file_path, await findAt('instance', actor, params.file_path), request),
    }),
  ]
}

/** In hex. The rarest one is not kept, but counted when somebody asks. */
async function digestOf(file: FoundFile, checksum: Checksum, blobs: Blobs): Promise<string> {
  if (checksum === 'sha512') {
    const hash = createHash('sha512')
    await pipeline(blobs.read(file.digest), hash)
    return hash.digest('hex')
  }
  return { md5: file.md5, sha1: file.sha1, sha256: file.digest }[checksum]
}

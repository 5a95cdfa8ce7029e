import { endpoint, group, instance, packageProject, project, type Actor } from '../../../access/index.ts'
import { Json, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { badRequest, recordNotFound } from '../../../kernel/errors/index.ts'
import { checkLength, takeContent } from '../content.ts'
import { credentials, reading, type Registry } from '../formats.ts'
import { elsewhere } from '../forwarding.ts'
import { fileAt, fileOf, ofPlace, ofProjectId, type FileSearch, type Place } from '../lookup.ts'
import { publish } from '../publish.ts'
import { discard } from '../upload-form.ts'
import { metadataOf } from './metadata.ts'
import { deprecations, newVersion } from './publication.ts'
import { alreadyThere, checkName, escaped, fileNameOf, isName } from './rules.ts'
import * as store from './store.ts'
import { readUpload } from './upload.ts'

const path = '/projects/:id/packages/npm'

/** Between the name of a package and that of its file. */
const separator = '/-/'

const metadataAnswer = Json({ description: 'The versions of the package, and which of them tags lead to' })
const forwards = { 404: 'There is no such package, and `npm_package_requests_forwarding` is off' }

/** What npm, pnpm and Yarn speak. */
export function npmEndpoints(registry: Registry): Endpoint[] {
  const { db, blobs, settings, externalUrl, sendFile } = registry

  /** Of all that somebody may read in a place. */
  async function metadataAt(place: Place, actor: Actor, name: string): Promise<unknown> {
    if (!isName(name)) throw recordNotFound()
    const everywhere = ofPlace(place, actor)
    // Everywhere only a scope says whose package is meant: a name alone could be anybody's.
    const scope = /^@([^/]+)\//.exec(name)?.[1]
    const source =
      place !== 'instance' ? everywhere : scope === undefined ? undefined : store.belowPath(everywhere, scope)
    const rows = source === undefined ? [] : await store.versionsAt(db.reader, source, name)
    return rows.length === 0
      ? elsewhere(settings, 'npm', escaped(name))
      : metadataOf(rows, name, externalUrl())
  }

  return [
    endpoint({
      ...credentials,
      on: project,
      method: 'PUT',
      path: `${path}/:package_name`,
      greedy: true,
      summary: 'Publish a version of an npm package',
      description: 'The body is what `npm publish` sends, or `npm deprecate`.',
      may: 'create_package',
      body: 'stream',
      answers: Json({ description: 'Nothing that clients look at' }),
      refuses: {
        400: 'The document, its tarball or a digest is no good, or the tarball is larger than `npm_max_file_size`',
        403: 'There is this version already',
      },
      async handle({ actor, project, params, request }) {
        const name = params.package_name
        checkName(name)
        const limit = settings.limits.npm_max_file_size
        // Base64 takes four bytes for three, and the document comes on top of that.
        checkLength(request, limit === 0 ? 0 : limit * 2 + 10_000_000)
        const upload = await readUpload(request.body, (content) => takeContent(blobs, content, limit))
        const [tarball] = upload.tarballs
        if (tarball === undefined) {
          const reasons = deprecations(upload.document)
          if (reasons.size === 0) throw badRequest('There is no tarball')
          await store.deprecate(db, project.id, name, reasons)
          return { ok: true }
        }
        const { version, tags, manifest } = await newVersion(name, upload, blobs).catch(
          async (error: unknown) => {
            await discard(registry, [tarball.stored.digest])
            throw error
          },
        )
        await publish(db, blobs, {
          project,
          actor,
          package: {
            ...{ type: 'npm', name, key: name, version, tags },
            metadata: { manifest, integrity: tarball.integrity },
          },
          file: { fileName: fileNameOf(name, version), stored: tarball.stored },
          once: { of: 'version', refusal: alreadyThere },
        })
        return { ok: true }
      },
    }),

    endpoint({
      ...reading,
      on: packageProject,
      method: 'GET',
      path: `${path}/:package_name`,
      greedy: true,
      summary: 'Get the versions of an npm package of a project',
      answers: metadataAnswer,
      refuses: forwards,
      read: ({ params }) => store.versions(params.package_name),
      async handle({ params, project, rows, request }) {
        const [name, fileName] = params.package_name.split(separator) as [string, string?]
        if (!isName(name)) throw recordNotFound()
        if (fileName === undefined)
          return rows.length === 0
            ? elsewhere(settings, 'npm', escaped(name))
            : metadataOf(rows, name, externalUrl())
        // Clients that write the slash of a scope as it is come here for files, too.
        const found = await fileAt(db.reader, ofProjectId(project.id), fileSearch(name, fileName))
        if (found === undefined) throw recordNotFound()
        return sendFile(found, request)
      },
    }),

    endpoint({
      ...reading,
      on: packageProject,
      method: 'GET',
      path: `${path}/:package_name/-/:file_name`,
      greedy: true,
      summary: 'Get the tarball of an npm package',
      record: true,
      answers: Json({ description: 'The bytes of the file' }),
      read: ({ params }) => fileOf(fileSearch(params.package_name, params.file_name)),
      handle: ({ rows, request }) => sendFile(rows[0]!, request),
    }),

    endpoint({
      ...reading,
      on: group,
      method: 'GET',
      path: '/groups/:id/-/packages/npm/:package_name',
      greedy: true,
      summary: 'Get the versions of an npm package in all projects of a group',
      answers: metadataAnswer,
      refuses: forwards,
      handle: ({ actor, group, params }) => metadataAt({ group: group.id }, actor, params.package_name),
    }),

    endpoint({
      ...reading,
      on: instance,
      may: 'use_instance',
      method: 'GET',
      path: '/packages/npm/:package_name',
      greedy: true,
      summary: 'Get the versions of an npm package in the group that its scope names',
      answers: metadataAnswer,
      refuses: forwards,
      handle: ({ actor, params }) => metadataAt('instance', actor, params.package_name),
    }),
  ]
}

/** `@scope/name-1.0.0.tgz` is asked for with the scope and without it. */
function fileSearch(name: string, fileName: string): FileSearch {
  return { type: 'npm', key: name, fileName: fileName.replace(/^.*\//, '') }
}

import { endpoint, group, packageProject, project } from '../../../access/index.ts'
import { Json, type Answer, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../../kernel/errors/index.ts'
import { credentials, reading, type Registry } from '../formats.ts'
import { elsewhere } from '../forwarding.ts'
import { fileOf, ofPlace } from '../lookup.ts'
import { publish } from '../publish.ts'
import { takeForm } from '../upload-form.ts'
import { filesPage, namesPage } from './pages.ts'
import { alreadyThere, distributionOf, isName, normalized } from './rules.ts'
import * as store from './store.ts'

const path = '/projects/:id/packages/pypi'
const groupPath = '/groups/:id/-/packages/pypi'
const shownPage = Json({ description: 'A page of links, as installers read it' })
const forwards = { 404: 'There is no such package, and `pypi_package_requests_forwarding` is off' }

/** What pip and twine speak. */
export function pypiEndpoints(registry: Registry): Endpoint[] {
  const { db, blobs, settings, externalUrl, sendFile } = registry

  const shown = (rows: readonly store.LinkRow[], name: string): Answer => {
    if (!isName(name)) throw recordNotFound()
    return rows.length === 0
      ? elsewhere(settings, 'pypi', `${normalized(name)}/`)
      : filesPage(rows, externalUrl())
  }

  return [
    endpoint({
      ...credentials,
      on: project,
      method: 'POST',
      path,
      summary: 'Publish a file of a Python package',
      description: 'The body is the form that twine sends, with the file as `content`.',
      may: 'create_package',
      body: 'stream',
      answers: Json({ description: 'A message' }),
      status: 201,
      refuses: {
        400: 'A name or a digest is no good, there is such a file already, or it is larger than `pypi_max_file_size`',
      },
      async handle({ actor, project, request }) {
        await takeForm(
          registry,
          request,
          'content',
          settings.limits.pypi_max_file_size,
          ({ fields, file: { filename, stored } }) => {
            const { name, version, fileName, requiresPython } = distributionOf(fields, filename, stored)
            return publish(db, blobs, {
              project,
              actor,
              package: { type: 'pypi', name, key: normalized(name), version },
              file: { fileName, stored, metadata: { requires_python: requiresPython } },
              once: { of: 'file', refusal: alreadyThere },
            })
          },
        )
        return { message: '201 Created' }
      },
    }),

    endpoint({
      ...reading,
      answers: shownPage,
      on: packageProject,
      method: 'GET',
      path: `${path}/simple`,
      summary: 'List the Python packages of a project',
      read: () => store.names(),
      handle: async ({ project, rows }) =>
        namesPage(rows, `${externalUrl()}/api/v4/projects/${project.id}/packages/pypi/simple`),
    }),

    endpoint({
      ...reading,
      answers: shownPage,
      on: packageProject,
      method: 'GET',
      path: `${path}/simple/:package_name`,
      summary: 'List the files of a Python package of a project',
      refuses: forwards,
      read: ({ params }) => store.links(normalized(params.package_name)),
      handle: async ({ params, rows }) => shown(rows, params.package_name),
    }),

    endpoint({
      ...reading,
      on: packageProject,
      method: 'GET',
      path: `${path}/files/:sha256/:file_name`,
      summary: 'Get a file of a Python package',
      record: true,
      answers: Json({ description: 'The bytes of the file' }),
      read: ({ params }) => fileOf({ type: 'pypi', digest: params.sha256, fileName: params.file_name }),
      handle: ({ rows, request }) => sendFile(rows[0]!, request),
    }),

    endpoint({
      ...reading,
      answers: shownPage,
      on: group,
      method: 'GET',
      path: `${groupPath}/simple`,
      summary: 'List the Python packages of all projects of a group',
      async handle({ actor, group }) {
        const names = await store.namesAt(db.reader, ofPlace({ group: group.id }, actor))
        return namesPage(names, `${externalUrl()}/api/v4/groups/${group.id}/-/packages/pypi/simple`)
      },
    }),

    endpoint({
      ...reading,
      answers: shownPage,
      on: group,
      method: 'GET',
      path: `${groupPath}/simple/:package_name`,
      summary: 'List the files of a Python package in all projects of a group',
      refuses: forwards,
      async handle({ actor, group, params }) {
        const source = ofPlace({ group: group.id }, actor)
        return shown(
          await store.linksAt(db.reader, source, normalized(params.package_name)),
          params.package_name,
        )
      },
    }),
  ]
}

import { endpoint, group, packageProject, project } from '../../../access/index.ts'
import { Fields, Flag, Int, Json, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { conflict, recordNotFound } from '../../../kernel/errors/index.ts'
import { credentials, reading, type Registry } from '../formats.ts'
import { fileOf, ofPlace } from '../lookup.ts'
import { publish } from '../publish.ts'
import { takeForm } from '../upload-form.ts'
import { leaf, registration, searchResult, serviceIndex, versionList, type About } from './entities.ts'
import { nuspecOf, parseNuspec } from './nuspec.ts'
import * as store from './store.ts'
import { normalizedVersion } from './versions.ts'

const path = '/projects/:id/packages/nuget'
const groupPath = '/groups/:id/-/packages/nuget'

const searchParams = Fields({
  q: Text({ default: '', description: 'Part of the id' }),
  skip: Int({ default: 0, minimum: 0, maximum: 10_000 }),
  take: Int({ default: 20, minimum: 0, maximum: 100 }),
  prerelease: Flag({ default: true }),
})

const keyOf = (name: string): string => name.toLowerCase()
/** What is no version is one that nothing has. */
const versionOf = (text: string): string => normalizedVersion(text) ?? ''
const alreadyThere = (): Error => conflict('Package already exists')

const indexAnswer = Json({ description: 'The services there are, and their addresses' })
const registrationAnswer = Json({ description: 'The versions of the package' })
const leafAnswer = Json({ description: 'The version' })
const searchAnswer = Json({ description: 'The packages that were found' })

/** What NuGet speaks, in its third version. */
export function nugetEndpoints(registry: Registry): Endpoint[] {
  const { db, blobs, settings, externalUrl, sendFile } = registry
  const aboutPlace = (place: string): About => ({
    base: `${externalUrl()}/api/v4/${place}/packages/nuget`,
    externalUrl: externalUrl(),
  })
  const ofProject = ({ id }: { readonly id: number }): About => aboutPlace(`projects/${id}`)
  const ofGroup = ({ id }: { readonly id: number }): About => aboutPlace(`groups/${id}/-`)
  const own = { ...reading, on: packageProject, method: 'GET' } as const
  const ofGroups = { ...reading, on: group, method: 'GET' } as const

  return [
    endpoint({
      ...credentials,
      on: project,
      method: 'PUT',
      path,
      summary: 'Publish a NuGet package',
      description: 'The body is a form with the file as `package`.',
      may: 'create_package',
      body: 'stream',
      answers: Json({ description: 'A message' }),
      status: 201,
      refuses: {
        400: 'The package is no good, or larger than `nuget_max_file_size`',
        409: 'There is this version already',
      },
      async handle({ actor, project, request }) {
        const limit = settings.limits.nuget_max_file_size
        await takeForm(registry, request, 'package', limit, async ({ file: { stored } }) => {
          const loose = settings.values.nuget_skip_metadata_url_validation
          const { id, version, metadata, dependencyGroups } = parseNuspec(
            await nuspecOf(blobs.path(stored.digest)),
            loose,
          )
          return publish(db, blobs, {
            project,
            actor,
            package: {
              ...{ type: 'nuget', name: id, key: keyOf(id), version },
              metadata: { ...metadata, dependencyGroups },
            },
            file: { fileName: `${keyOf(id)}.${version}.nupkg`, stored },
            once: { of: 'version', refusal: alreadyThere },
          })
        })
        return { message: '201 Created' }
      },
    }),

    endpoint({
      ...own,
      path: `${path}/index.json`,
      summary: 'Get where NuGet finds what in a project',
      answers: indexAnswer,
      handle: async ({ project }) => serviceIndex(ofProject(project), true),
    }),

    endpoint({
      ...own,
      path: `${path}/metadata/:package_name/index.json`,
      summary: 'Get the versions of a NuGet package',
      record: true,
      answers: registrationAnswer,
      read: ({ params }) => store.versions(keyOf(params.package_name)),
      handle: async ({ project, rows }) => registration(rows, ofProject(project)),
    }),

    endpoint({
      ...own,
      path: `${path}/metadata/:package_name/:package_version`,
      summary: 'Get a version of a NuGet package',
      record: true,
      answers: leafAnswer,
      read: ({ params }) => store.versions(keyOf(params.package_name), leafVersion(params.package_version)),
      handle: async ({ project, rows }) => leaf(rows[0]!, ofProject(project)),
    }),

    endpoint({
      ...own,
      path: `${path}/download/:package_name/index.json`,
      summary: 'Get the numbers of the versions of a NuGet package',
      record: true,
      answers: Json({ description: 'The versions, the lowest first' }),
      read: ({ params }) => store.versions(keyOf(params.package_name)),
      handle: async ({ rows }) => versionList(rows),
    }),

    endpoint({
      ...own,
      path: `${path}/download/:package_name/:package_version/:file_name`,
      summary: 'Get the file of a NuGet package',
      record: true,
      answers: Json({ description: 'The bytes of the package' }),
      read: ({ params }) =>
        fileOf({
          type: 'nuget',
          key: keyOf(params.package_name),
          version: versionOf(params.package_version),
          fileName: params.file_name.toLowerCase(),
        }),
      handle: ({ rows, request }) => sendFile(rows[0]!, request),
    }),

    endpoint({
      ...own,
      path: `${path}/query`,
      summary: 'Search the NuGet packages of a project',
      params: searchParams,
      answers: searchAnswer,
      read: ({ params }) => store.search(params),
      handle: async ({ project, rows }) => searchResult(rows[0]!, ofProject(project)),
    }),

    endpoint({
      ...ofGroups,
      path: `${groupPath}/index.json`,
      summary: 'Get where NuGet finds what in a group',
      answers: indexAnswer,
      handle: async ({ group }) => serviceIndex(ofGroup(group), false),
    }),

    endpoint({
      ...ofGroups,
      path: `${groupPath}/metadata/:package_name/index.json`,
      summary: 'Get the versions of a NuGet package in all projects of a group',
      answers: registrationAnswer,
      async handle({ actor, group, params }) {
        const source = ofPlace({ group: group.id }, actor)
        const rows = await store.versionsAt(db.reader, source, keyOf(params.package_name))
        if (rows.length === 0) throw recordNotFound()
        return registration(rows, ofGroup(group))
      },
    }),

    endpoint({
      ...ofGroups,
      path: `${groupPath}/metadata/:package_name/:package_version`,
      summary: 'Get a version of a NuGet package in any project of a group',
      answers: leafAnswer,
      async handle({ actor, group, params }) {
        const source = ofPlace({ group: group.id }, actor)
        const version = leafVersion(params.package_version)
        const rows = await store.versionsAt(db.reader, source, keyOf(params.package_name), version)
        if (rows.length === 0) throw recordNotFound()
        return leaf(rows.at(-1)!, ofGroup(group))
      },
    }),

    endpoint({
      ...ofGroups,
      path: `${groupPath}/query`,
      summary: 'Search the NuGet packages of all projects of a group',
      params: searchParams,
      answers: searchAnswer,
      async handle({ actor, group, params }) {
        const source = ofPlace({ group: group.id }, actor)
        return searchResult(await store.searchAt(db.reader, source, params), ofGroup(group))
      },
    }),
  ]
}

/** `1.0.0.json` is the address of 1.0.0. */
const leafVersion = (text: string): string => versionOf(text.replace(/\.json$/, ''))

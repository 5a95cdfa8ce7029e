import { stringify } from 'yaml'
import { endpoint, packageProject, project } from '../../../access/index.ts'
import { Answer, Json, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { badRequest } from '../../../kernel/errors/index.ts'
import { credentials, reading, type Registry } from '../formats.ts'
import { fileOf } from '../lookup.ts'
import { publish } from '../publish.ts'
import { fileOfTarball } from '../tarball.ts'
import { takeForm } from '../upload-form.ts'
import { chartOf } from './chart.ts'
import { newestCharts, type ChartRow } from './store.ts'

const path = '/projects/:id/packages/helm'

/** What Helm speaks: charts in channels, each of which is a repository. */
export function helmEndpoints(registry: Registry): Endpoint[] {
  const { db, blobs, settings, sendFile } = registry
  return [
    endpoint({
      ...credentials,
      on: project,
      method: 'POST',
      path: `${path}/api/:channel/charts`,
      summary: 'Publish a Helm chart in a channel',
      description: 'The body is a form with the packaged chart as `chart`. Of a version the newest counts.',
      may: 'create_package',
      body: 'stream',
      answers: Json({ description: 'A message' }),
      status: 201,
      refuses: { 400: 'The channel or the chart is no good, or it is larger than `helm_max_file_size`' },
      async handle({ actor, project, params: { channel }, request }) {
        if (channel.length > 255 || !/^[A-Za-z0-9][\w.-]*$/.test(channel) || channel.includes('..'))
          throw badRequest('channel is invalid')
        await takeForm(
          registry,
          request,
          'chart',
          settings.limits.helm_max_file_size,
          async ({ file: { stored } }) => {
            const described = await fileOfTarball(blobs.read(stored.digest), /^[^/]+\/Chart\.yaml$/)
            const { name, version, metadata } = chartOf(described.toString())
            return publish(db, blobs, {
              project,
              actor,
              package: { type: 'helm', name, key: name, version },
              file: { fileName: `${name}-${version}.tgz`, stored, metadata: { channel, chart: metadata } },
            })
          },
        )
        return { message: '201 Created' }
      },
    }),

    endpoint({
      ...reading,
      on: packageProject,
      method: 'GET',
      path: `${path}/:channel/index.yaml`,
      summary: 'Get the index of a channel of Helm charts',
      description: 'The newest charts, at most `helm_max_packages_count`.',
      answers: Json({ description: 'The index, as YAML' }),
      read: ({ params }) => newestCharts(params.channel, settings.values.helm_max_packages_count),
      async handle({ project, rows }) {
        const entries = Map.groupBy(rows, ({ name }) => name)
        const shown = ({ file_name, digest, created_at, chart }: ChartRow) => ({
          ...chart,
          created: new Date(created_at).toISOString(),
          digest,
          urls: [`charts/${encodeURIComponent(file_name)}`],
        })
        const index = {
          apiVersion: 'v1',
          entries: Object.fromEntries([...entries].map(([name, charts]) => [name, charts.map(shown)])),
          generated: new Date().toISOString(),
          // Where the plugin that pushes charts finds the rest of the API.
          serverInfo: { contextPath: `/api/v4/projects/${project.id}/packages/helm` },
        }
        return new Answer(200, { 'content-type': 'text/yaml' }, stringify(index))
      },
    }),

    endpoint({
      ...reading,
      on: packageProject,
      method: 'GET',
      path: `${path}/:channel/charts/:file_name`,
      summary: 'Get a Helm chart',
      record: true,
      answers: Json({ description: 'The bytes of the chart' }),
      read: ({ params }) => fileOf({ type: 'helm', channel: params.channel, fileName: params.file_name }),
      handle: ({ rows, request }) => sendFile(rows[0]!, request),
    }),
  ]
}

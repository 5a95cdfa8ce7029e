import { endpoint, group, instance, packageProject, project } from '../../../access/index.ts'
import { Hash, Json, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { parseJsonValue } from '../../../kernel/endpoint/json-body.ts'
import { badRequest, notFound, recordNotFound } from '../../../kernel/errors/index.ts'
import { credentials, reading, type Registry } from '../formats.ts'
import { elsewhere } from '../forwarding.ts'
import { setTag } from '../publish.ts'
import { readWord } from '../small-body.ts'
import { checkTag } from './rules.ts'
import * as store from './store.ts'

const path = '/projects/:id/packages/npm/-/package/:package_name/dist-tags'

/** The tags of packages, and what npm asks besides: which of the installed packages are known to be unsafe. */
export function npmTagEndpoints({ db, settings }: Registry): Endpoint[] {
  return [
    endpoint({
      ...reading,
      on: packageProject,
      method: 'GET',
      path,
      summary: 'Get the tags of an npm package',
      record: true,
      answers: Hash(Text(), { description: 'By tag the version that it leads to' }),
      read: ({ params }) => store.tags(params.package_name),
      handle: async ({ rows }) => Object.fromEntries(rows.map(({ name, version }) => [name, version])),
    }),

    endpoint({
      ...credentials,
      on: project,
      method: 'PUT',
      path: `${path}/:tag`,
      summary: 'Let a tag lead to a version of an npm package',
      description: 'The body is the version, as JSON.',
      may: 'create_package',
      body: 'stream',
      answers: null,
      refuses: { 400: 'The tag or the version is no good', 404: 'There is no such version' },
      async handle({ project, params, request }) {
        checkTag(params.tag)
        const version = parseJsonValue(await readWord(request.body))
        if (typeof version !== 'string') throw badRequest('version is invalid')
        await db.transaction(async (tx) => {
          const id = await store.holdVersion(tx, project.id, params.package_name, version)
          if (id === undefined) throw notFound('Package')
          await setTag(tx, id, params.tag)
        })
      },
    }),

    endpoint({
      ...credentials,
      on: project,
      method: 'DELETE',
      path: `${path}/:tag`,
      summary: 'Delete a tag of an npm package',
      may: 'destroy_package',
      answers: null,
      async handle({ project, params }) {
        if (!(await store.removeTag(db, project.id, params.package_name, params.tag))) throw recordNotFound()
      },
    }),

    ...['advisories/bulk', 'audits/quick'].flatMap((question) => {
      const asked = `npm/v1/security/${question}`
      const common = {
        ...credentials,
        method: 'POST',
        summary: 'Ask the public registry which packages are known to be unsafe',
        description: 'Leads there while `npm_package_requests_forwarding` is on.',
        body: 'stream',
        answers: Json({ description: 'Where to ask' }),
        status: 200,
        refuses: { 404: '`npm_package_requests_forwarding` is off' },
        handle: async () => elsewhere(settings, 'npm', `-/${asked}`, 307),
      } as const
      return [
        endpoint({
          ...common,
          on: packageProject,
          may: 'read_package',
          path: `/projects/:id/packages/npm/-/${asked}`,
        }),
        endpoint({
          ...common,
          on: group,
          may: 'read_package',
          path: `/groups/:id/-/packages/npm/-/${asked}`,
        }),
        endpoint({ ...common, on: instance, may: 'use_instance', path: `/packages/npm/-/${asked}` }),
      ]
    }),
  ]
}

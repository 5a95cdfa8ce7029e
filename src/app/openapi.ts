import { endpoint, instance, scopesOf } from '../access/index.ts'
import { apiVersion } from '../areas/metadata/index.ts'
import { matchesEtag, weakEtag } from '../kernel/endpoint/headers.ts'
import { Answer, Json, openApiDocument, type Endpoint, type Registry } from '../kernel/endpoint/index.ts'

const description = `The REST API, version 4, of Guildhall.

Parameters of the path, the query and the body are one bag: path before query before body. Names of parts go in
brackets: \`filter[environment_scope]=prod\`, \`scope[]=failed\`. A project or group is named by its id or by its full
path with slashes as \`%2F\`. Lists come in pages of 20, at most 100; their headers say where one is. Every GET also
answers HEAD, and carries an ETag for \`If-None-Match\`.`

export function describeApi(registry: Registry): Record<string, unknown> {
  return openApiDocument(registry, { title: 'Guildhall', version: apiVersion, description, scopesOf })
}

/** The document about all endpoints, itself included; it is made when it is first asked for. */
export function openApiEndpoint(registry: () => Registry): Endpoint {
  let made: { body: string; etag: string } | undefined
  return endpoint({
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describe all endpoints as an OpenAPI 3.1 document',
    on: instance,
    may: 'use_instance',
    anonymous: true,
    answers: Json(),
    async handle({ request }) {
      if (made === undefined) {
        const body = JSON.stringify(describeApi(registry()))
        made = { body, etag: weakEtag(body) }
      }
      const { body, etag } = made
      return matchesEtag(request.headers['if-none-match'], etag)
        ? new Answer(304, { etag })
        : new Answer(200, { 'content-type': 'application/json', etag }, body)
    },
  })
}

import { endpoint, instance } from '../../access/index.ts'
import { Answer, Fields, Json, Nullable, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { invalidParameters, sentencesOf, type ApiError } from '../../kernel/errors/index.ts'
import type { GraphqlServices } from './run.ts'

const params = Fields({
  query: Optional(Nullable(Text())),
  operationName: Optional(Nullable(Text())),
  variables: Optional(Json({ description: 'An object, or the JSON of one' })),
})

/** The one address for queries. A token that may only read gets as far as the calls of the API that a mutation makes. */
export function graphqlEndpoints(services: GraphqlServices): Endpoint[] {
  return (['GET', 'POST'] as const).map((method) =>
    endpoint({
      method,
      path: '/graphql',
      summary: 'Answer a query of the GraphQL language',
      on: instance,
      may: 'use_instance',
      anonymous: true,
      scopes: ['read_api'],
      params,
      answers: Json(),
      async handle({ actor, params: { query, operationName, variables }, request }) {
        if (query == null || query.trim() === '') return answer(200, refusal('There is no query'))
        const operation = {
          query,
          // Clients with one operation send an empty name, or null.
          operationName: operationName == null || operationName === '' ? undefined : operationName,
          variables: readVariables(variables),
          readOnly: method === 'GET',
        }
        // Loaded for the first query: it would be a part of every start, and most are over before one comes.
        const { run } = await import('./run.ts')
        const { status, body } = await run(services, operation, actor, request)
        return answer(status, body)
      },
    }),
  )
}

/** Refusals of the gate, in the form that clients of GraphQL read. */
export function inGraphqlForm(error: ApiError): Answer {
  const message = error.status === 401 ? 'Invalid token' : sentencesOf(error.body).join(', ')
  return answer(error.status, refusal(message))
}

function refusal(message: string): object {
  return { errors: [{ message }] }
}

function answer(status: number, body: object): Answer {
  return new Answer(status, { 'content-type': 'application/json' }, JSON.stringify(body))
}

function readVariables(sent: unknown): Record<string, unknown> {
  const value = typeof sent === 'string' && sent.trim() !== '' ? parsed(sent) : sent
  if (value === undefined || value === null || value === '') return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParameters(['variables is invalid'])
  return value as Record<string, unknown>
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidParameters(['variables is invalid'])
  }
}

import { compileParams, type Coerced } from './coerce.ts'
import type { Endpoint } from './endpoint.ts'
import { pageParams } from './pagination.ts'
import { pathParamNames } from './path.ts'
import { compileAnswer } from './serialize.ts'
import { Fields, Text, type TObject, type TSchema } from './types.ts'

/** An endpoint made ready: its parameters compiled, its answer's writer too. */
export interface Route {
  readonly endpoint: Endpoint
  /** All parameters: the path's, the paging ones, the declared ones, in that order. */
  readonly params: TObject
  readonly check: (bag: Readonly<Record<string, unknown>>) => Coerced<Record<string, unknown>>
  readonly write: (value: unknown) => string
  readonly status: number
}

const usualStatus = { GET: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204 } as const

export function compileRoute(endpoint: Endpoint): Route {
  const declared = (endpoint.params?.properties ?? {}) as Record<string, TSchema>
  const inPath = pathParamNames(endpoint.path).map((name) => [name, declared[name] ?? Text()])
  const params = Fields({
    ...Object.fromEntries(inPath),
    ...declared,
    ...(endpoint.paged === true && pageParams),
  }) as TObject
  // Compiled for the first request: most endpoints of a process are never asked.
  let check: Route['check'] | undefined
  let write: Route['write'] | undefined
  return {
    endpoint,
    params,
    check: (bag) => (check ??= compileParams(params, endpoint.rules))(bag),
    write: (value) =>
      (write ??= endpoint.answers === null ? () => '' : compileAnswer(endpoint.answers))(value),
    status: endpoint.status ?? (endpoint.answers === null ? 204 : usualStatus[endpoint.method]),
  }
}

/** Whether it is a list with pages that knows nothing of keysets. */
export function knowsOffsetsOnly({ endpoint, params }: Route): boolean {
  return endpoint.paged === true && !('pagination' in params.properties)
}

/** All endpoints there are, each once. */
export class Registry {
  readonly routes: readonly Route[]

  constructor(endpoints: readonly Endpoint[]) {
    const seen = new Set<string>()
    for (const { method, path } of endpoints) {
      const shape = `${method} ${path.replaceAll(/:\w+/g, ':')}`
      if (seen.has(shape)) throw new Error(`${method} ${path} is declared twice`)
      seen.add(shape)
    }
    this.routes = endpoints.map(compileRoute)
  }
}

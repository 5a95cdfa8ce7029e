import createRouter from 'find-my-way'
import type { Endpoint } from './endpoint.ts'

/** Of the HTTP server's router and of this one. */
export const routerOptions = { maxParamLength: 8192, ignoreTrailingSlash: true } as const

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The paths of an endpoint as the router knows them, where only a `*` takes slashes. */
export function mountedPaths({
  path,
  greedy,
  dashed,
}: Pick<Endpoint, 'path' | 'greedy' | 'dashed'>): string[] {
  const mounted = greedy === true ? path.replace(/:\w+$/, '*') : path
  return dashed === true ? [mounted, mounted.replace('/:id/', '/:id/-/')] : [mounted]
}

/** What is served at a path by any method. Only requests that nothing serves ask, so it is put together for the first. */
export class ServedMethods {
  readonly #endpoints: readonly Endpoint[]
  #router: ReturnType<typeof createRouter> | undefined

  constructor(endpoints: readonly Endpoint[]) {
    this.#endpoints = endpoints
  }

  /** The methods that are served at a path, HEAD beside GET; none when nothing is there. */
  at(path: string): string[] {
    const router = (this.#router ??= this.#build())
    return methods.filter((method) => router.find(method === 'HEAD' ? 'GET' : method, path) !== null)
  }

  #build(): ReturnType<typeof createRouter> {
    const router = createRouter(routerOptions)
    for (const endpoint of this.#endpoints)
      for (const path of mountedPaths(endpoint)) router.on(endpoint.method, path, () => undefined)
    return router
  }
}

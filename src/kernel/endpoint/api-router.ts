import createRouter from 'find-my-way'
import type { Endpoint } from './endpoint.ts'
import type { Route } from './registry.ts'

/** Of the HTTP server's router and of this one. */
export const routerOptions = { maxParamLength: 8192, ignoreTrailingSlash: true } as const

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof methods)[number]

/** What answers a request, and the values of its path's parameters by their declared names, decoded. */
export interface FoundRoute {
  readonly route: Route
  readonly values: Readonly<Record<string, string>>
  /** What the path's end says is wanted: `json` of `/projects.json`. */
  readonly format?: string
}

/** The format that a path may end in, after a word of its own or a number: other parameters may have dots. */
const suffix = /^([^?]*)\.([a-z][a-z\d]*)(?=\/?(?:\?|$))/i

/**
 * All endpoints in one tree. The HTTP server knows one address for them: what it prepares for each address that it
 * knows would be a fifth of a start.
 */
export class ApiRouter {
  readonly #router = createRouter(routerOptions)

  constructor(routes: readonly Route[], prefix: string) {
    for (const route of routes) {
      const { endpoint } = route
      for (const path of mountedPaths(endpoint))
        this.#router.on(endpoint.method, prefix + path, unused, { route })
    }
  }

  /** HEAD is answered as GET is. */
  find(method: string, url: string): FoundRoute | undefined {
    const found = this.#lookup(method, url)
    if (found !== undefined && !endsInNumber(found.route)) return found
    const [, , format] = suffix.exec(url) ?? []
    if (format === undefined) return found
    const bare = this.#lookup(method, url.replace(suffix, '$1'))
    return bare === undefined ? found : { ...bare, format: format.toLowerCase() }
  }

  #lookup(method: string, url: string): FoundRoute | undefined {
    const found = this.#router.find((method === 'HEAD' ? 'GET' : method) as Method, url)
    if (found === null) return undefined
    const { route } = found.store as { readonly route: Route }
    return { route, values: pathValues(route.endpoint, found.params) }
  }

  /** The methods that are served at an address; none when nothing is there. */
  methodsAt(url: string): Method[] {
    return methods.filter((method) => this.find(method, url) !== undefined)
  }
}

/** Who asks for the route calls it himself. */
function unused(): void {}

function endsInNumber({ endpoint, params }: Route): boolean {
  const [, last] = /\/:(\w+)$/.exec(endpoint.path) ?? []
  return last !== undefined && Reflect.get(params.properties[last] ?? {}, 'type') === 'integer'
}

/** The paths of an endpoint as the router knows them, where only a `*` takes slashes. */
function mountedPaths({ path, greedy, dashed }: Endpoint): string[] {
  const mounted = greedy === true ? path.replace(/:\w+$/, '*') : path
  return dashed === true ? [mounted, mounted.replace('/:id/', '/:id/-/')] : [mounted]
}

function pathValues(
  { path, greedy }: Endpoint,
  values: Record<string, string | undefined>,
): FoundRoute['values'] {
  if (greedy !== true) return values as FoundRoute['values']
  const { '*': rest = '', ...others } = values as Record<string, string>
  return { ...others, [/:(\w+)$/.exec(path)?.[1] ?? '*']: rest }
}

import type { FastifyRequest } from 'fastify'
import { bearer } from '../../access/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import { RegistryError } from './errors.ts'
import type { Place } from './place.ts'
import { serviceName, type Access, type Action, type Claims, type Tokens } from './tokens.ts'

/** What the token of a request allows. The registry itself decides nothing: the token service did. */
export class Caller {
  readonly #claims: Claims | undefined
  readonly #base: string

  private constructor(claims: Claims | undefined, base: string) {
    this.#claims = claims
    this.#base = base
  }

  static async of(request: FastifyRequest, tokens: Tokens, externalUrl: string): Promise<Caller> {
    const token = bearer(request.headers)
    const claims = token === undefined ? undefined : await tokens.verify(token)
    const context = requestContext()
    if (context !== undefined && claims !== undefined && claims.subject !== '') context.actor = claims.subject
    return new Caller(claims, externalUrl)
  }

  /** Refuses who has no token, with the way to one: clients ask for the scope that they are told. */
  requireToken(scope: string | undefined): void {
    if (this.#claims === undefined) throw this.#challenge(scope)
  }

  /** Refuses with 401, as clients expect it: they come back with a token that has more in it, if they are given one. */
  require(path: string, ...actions: Action[]): Permitted {
    return this.#demand(path, actions, [])
  }

  /**
   * As `require`, to push what another repository may have already. It goes without reading that one, so that nobody is
   * refused for it; but who is sent for a token is told of both, since many clients ask for nothing else.
   */
  requirePush(path: string, source: string | undefined): Permitted {
    return this.#demand(path, ['pull', 'push'], source === undefined ? [] : [pullScope(source)])
  }

  requireCatalog(): void {
    const access = this.#find('registry', 'catalog')
    if (access === undefined || !allows(access, '*')) throw this.#challenge('registry:catalog:*')
  }

  /** The place of a repository that may be read too, if it may. */
  readable(path: string): Place | undefined {
    const access = this.#find('repository', path)
    return access?.meta !== undefined && allows(access, 'pull') ? placeOf(path, access.meta) : undefined
  }

  /** Whether the caller is about to push there, so that what it sees should stay a while. */
  pushes(path: string): boolean {
    const access = this.#find('repository', path)
    return access !== undefined && allows(access, 'push')
  }

  #demand(path: string, actions: readonly Action[], more: readonly string[]): Permitted {
    const access = this.#find('repository', path)
    if (access?.meta === undefined || !actions.every((action) => allows(access, action))) {
      throw this.#challenge([`repository:${path}:${actions.join(',')}`, ...more].join(' '))
    }
    return { place: placeOf(path, access.meta), meta: access.meta }
  }

  #find(type: Access['type'], name: string): Access | undefined {
    return this.#claims?.access.find((access) => access.type === type && access.name === name)
  }

  #challenge(scope: string | undefined): RegistryError {
    const parts = [`realm="${this.#base}/jwt/auth"`, `service="${serviceName}"`]
    if (scope !== undefined) parts.push(`scope="${scope}"`)
    if (this.#claims !== undefined) parts.push('error="insufficient_scope"')
    return new RegistryError(401, 'UNAUTHORIZED', 'authentication required', {
      headers: { 'www-authenticate': `Bearer ${parts.join(',')}` },
      ...(scope !== undefined && { detail: scope }),
    })
  }
}

/** What a token must be for to take blobs over from a repository. */
export function pullScope(path: string): string {
  return `repository:${path}:pull`
}

type Meta = NonNullable<Access['meta']>

/** What a caller may work on, and the tags that it may not touch there. */
export interface Permitted {
  readonly place: Place
  readonly meta: Meta
}

function allows({ actions }: Access, action: Action): boolean {
  return actions.includes(action) || actions.includes('*')
}

function placeOf(path: string, meta: Meta): Place {
  return { projectId: meta.project_id, name: path.slice(meta.project_path.length + 1), path }
}

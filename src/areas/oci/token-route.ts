import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requestContext } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { readLogin } from '../git-http/index.ts'
import { denied, RegistryError } from './errors.ts'
import { grant, type Holder } from './grant.ts'
import { readScopes } from './scopes.ts'
import { signIn, type SignInServices } from './sign-in.ts'
import { serviceName, type Holder as TokenHolder, type Tokens } from './tokens.ts'

export interface TokenServices extends SignInServices {
  readonly settings: Settings
  readonly tokens: Tokens
  readonly enabled: boolean
}

/** `GET /jwt/auth`: what a client is let do with images, as a signed token of a few minutes. */
export function mountTokens(server: FastifyInstance, services: TokenServices): void {
  server.get('/jwt/auth', async (request, reply) => {
    const context = requestContext()
    if (context !== undefined) context.endpoint = 'registry token'
    const query = new URLSearchParams(request.url.split('?')[1] ?? '')
    if (query.get('service') !== serviceName) return reply.code(404).send()
    try {
      const token = await answer(services, query, request)
      return await sendJson(reply, 200, JSON.stringify({ token }))
    } catch (error) {
      if (error instanceof RegistryError) return sendJson(reply, error.status, error.body)
      throw error
    }
  })
}

async function answer(
  services: TokenServices,
  query: URLSearchParams,
  request: FastifyRequest,
): Promise<string> {
  if (!services.enabled) throw new RegistryError(404, 'UNAVAILABLE', 'registry not enabled')
  const holder = await signIn(services, readLogin(request.headers.authorization))
  const asked = query.getAll('scope').filter((text) => text !== '')
  const nobody = holder.kind === 'actor' && holder.actor.user === null
  if (nobody && asked.length === 0) throw denied('access forbidden')
  const context = requestContext()
  if (context !== undefined && holder.kind === 'actor' && holder.actor.user !== null) {
    context.actor = holder.actor.user.username
  }
  const described = describe(holder)
  const standing = await services.tokens.standing(described.bearer)
  const access = await grant(services.db, holder, readScopes(asked))
  return services.tokens.sign(described, access, {
    life: services.settings.values.container_registry_token_expire_delay,
    standing,
  })
}

function describe(holder: Holder): TokenHolder {
  if (holder.kind === 'machine') {
    const { name, authType, id } = holder.machine
    const bearer = { ...nobody, deployTokenId: id }
    return { name, authType, user: { token_type: authType, username: name }, bearer }
  }
  const { user, token, job } = holder.actor
  if (user === null) return { name: '', authType: null, user: {}, bearer: nobody }
  const authType = job !== null ? 'build' : token !== null ? 'personal_access_token' : 'gitlab_or_ldap'
  return {
    name: user.username,
    authType,
    user: { token_type: authType, username: user.username, user_id: user.id },
    bearer: { userId: user.id, tokenId: token?.id ?? null, jobId: job?.id ?? null, deployTokenId: null },
  }
}

const nobody = { userId: null, tokenId: null, jobId: null, deployTokenId: null }

/** Bytes, since Fastify adds a charset to the content type of a text. */
function sendJson(reply: FastifyReply, status: number, body: string): FastifyReply {
  return reply.code(status).header('content-type', 'application/json').send(Buffer.from(body))
}

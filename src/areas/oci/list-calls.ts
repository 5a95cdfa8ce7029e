import type { FastifyReply } from 'fastify'
import type { Digest } from '../../blobs/index.ts'
import { nextLink, sendJson, type RegistryCall } from './call.ts'
import { nameUnknown, RegistryError } from './errors.ts'
import { listReferrers, listRepositories, listTags } from './list-store.ts'

const longestPage = 1000
const referrersPage = 500

export async function tagsCall(
  { services, caller, query, reply, method }: RegistryCall,
  name: string,
): Promise<FastifyReply> {
  onlyGet(method)
  const { place } = caller.require(name, 'pull')
  const { limit, last, n } = readPage(query)
  const tags = await listTags(services.db, place, { limit: limit + 1, last })
  if (tags === undefined) throw nameUnknown(name)
  const shown = tags.slice(0, limit)
  const more = limit > 0 && tags.length > limit
  return sendJson(
    reply,
    { name, tags: shown },
    more ? { link: nextLink(`/v2/${name}/tags/list`, { n: String(n ?? limit), last: shown.at(-1) }) } : {},
  )
}

export async function referrersCall(
  { services, caller, query, reply, method }: RegistryCall,
  name: string,
  digest: Digest,
): Promise<FastifyReply> {
  onlyGet(method)
  const { place } = caller.require(name, 'pull')
  const artifactType = textParam(query, 'artifactType')
  const last = textParam(query, 'last')
  const found = await listReferrers(services.db, place, digest, {
    limit: referrersPage + 1,
    last,
    artifactType,
  })
  const manifests = found.slice(0, referrersPage)
  const more = found.length > referrersPage
  return sendJson(
    reply,
    { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests },
    {
      'content-type': 'application/vnd.oci.image.index.v1+json',
      ...(artifactType !== undefined && { 'oci-filters-applied': 'artifactType' }),
      ...(more && {
        link: nextLink(`/v2/${name}/referrers/${digest}`, { artifactType, last: manifests.at(-1)!.digest }),
      }),
    },
  )
}

export async function catalogCall({
  services,
  caller,
  query,
  reply,
  method,
}: RegistryCall): Promise<FastifyReply> {
  onlyGet(method)
  caller.requireCatalog()
  const { limit, last } = readPage(query)
  const found = await listRepositories(services.db, { limit: limit + 1, last })
  const repositories = found.slice(0, limit)
  const more = limit > 0 && found.length > limit
  return sendJson(
    reply,
    { repositories },
    more ? { link: nextLink('/v2/_catalog', { n: String(limit), last: repositories.at(-1) }) } : {},
  )
}

function onlyGet(method: string): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RegistryError(405, 'UNSUPPORTED', 'the operation is unsupported')
  }
}

function textParam(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)
  // A database knows no NUL in a text.
  return text === null || text === '' || text.includes('\0') ? undefined : text
}

function readPage(query: URLSearchParams): {
  limit: number
  last: string | undefined
  n: number | undefined
} {
  const text = query.get('n')
  if (text !== null && !/^\d{1,9}$/.test(text)) {
    throw new RegistryError(400, 'PAGINATION_NUMBER_INVALID', 'invalid number of results requested', {
      detail: { n: text },
    })
  }
  const n = text === null ? undefined : Number(text)
  return { limit: Math.min(n ?? longestPage, longestPage), last: textParam(query, 'last'), n }
}

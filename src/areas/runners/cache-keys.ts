import { createHash } from 'node:crypto'
import type { Cache } from '../../ci/index.ts'
import { findBlob, lastCommitFor, parseOid, parsePath, rootPath, type Repository } from '../../git/index.ts'
import type { HandedJob } from './job-row.ts'

export interface CacheKeys {
  readonly key: string
  readonly fallbackKeys: readonly string[]
}

/** A key of files changes with these; the caches of protected refs are kept apart, those to fall back on too. */
export async function cacheKeys(
  repository: Repository,
  job: HandedJob,
  { key, unprotect, fallbackKeys }: Cache,
  separated: boolean,
): Promise<CacheKeys> {
  const base = typeof key === 'string' ? key : await keyOfFiles(repository, job.pipeline.sha, key)
  const ending = separated ? `-${job.protected && !unprotect ? 'protected' : 'non_protected'}` : ''
  return { key: base + ending, fallbackKeys: fallbackKeys.map((one) => one + ending) }
}

async function keyOfFiles(
  repository: Repository,
  sha: string,
  { files = [], filesCommits = [], prefix }: Exclude<Cache['key'], string>,
): Promise<string> {
  const commit = parseOid(sha)
  const ids = await Promise.all(
    [...files, ...filesCommits].map(async (written, index) => {
      const path = parsePath(written)
      if (commit === undefined || path === undefined || path === rootPath) return undefined
      return index < files.length
        ? (await findBlob(repository, commit, path))?.oid
        : (await lastCommitFor(repository, commit, path))?.oid
    }),
  )
  const known = ids.filter((id) => id !== undefined)
  const digest = known.length === 0 ? 'default' : createHash('sha1').update(known.join('')).digest('hex')
  return prefix === undefined ? digest : `${prefix}-${digest}`
}

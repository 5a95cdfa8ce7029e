import { createHash } from 'node:crypto'
import type { Cache } from '../../ci/index.ts'
import { findBlob, lastCommitFor, parseOid, parsePath, rootPath, type Repository } from '../../git/index.ts'
import type { HandedJob } from './job-row.ts'

/** A key of files changes with these; the caches of protected refs are kept apart. */
export async function cacheKey(
  repository: Repository,
  job: HandedJob,
  { key, unprotect }: Cache,
  separated: boolean,
): Promise<string> {
  const base = typeof key === 'string' ? key : await keyOfFiles(repository, job.pipeline.sha, key)
  if (!separated || unprotect) return base
  return `${base}-${job.protected ? 'protected' : 'non_protected'}`
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

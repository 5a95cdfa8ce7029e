import { createHash, randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { packFiles, unpackFiles, type ArchiveContext } from './archive.ts'
import { compressionLevel } from './artifacts.ts'
import { due, type CacheEntry, type JobPayload } from './payload.ts'

export interface CacheContext extends ArchiveContext {
  /** Of all caches; the job's user cannot enter it. */
  caches: string
  job: JobPayload
  environment: Readonly<Record<string, string | undefined>>
  expand: (text: string) => string
}

/** Never a way out of the cache folder, and no two keys share one. */
export function cacheFolderName(key: string) {
  const name = encodeURIComponent(key.toWellFormed()).replace(/^\./, '%2E')
  return name.length <= 150 ? name : `%${createHash('sha256').update(key).digest('hex')}`
}

function policyOf({ policy }: CacheEntry, expand: (text: string) => string) {
  return expand(policy ?? '') || 'pull-push'
}

export function cachesToRestore(job: JobPayload, expand: (text: string) => string) {
  return cachesOf(job).filter((entry) => policyOf(entry, expand) !== 'push')
}

export function cachesToSave(job: JobPayload, expand: (text: string) => string, succeeded: boolean) {
  return cachesOf(job).filter((entry) => policyOf(entry, expand) !== 'pull' && due(entry.when, succeeded))
}

function cachesOf(job: JobPayload) {
  return (job.cache ?? []).filter((entry) => (entry.paths ?? []).length > 0 || entry.untracked === true)
}

/** A missing or broken cache is told and costs nothing else. */
export async function restoreCaches(context: CacheContext, entries: CacheEntry[]) {
  const { trace, signal } = context
  for (const entry of entries) {
    let found: string | undefined
    for (const key of keysOf(context, entry)) {
      trace.line(`Checking cache for ${key}...`)
      if ((found = await archiveOf(context, key)) !== undefined) break
      trace.line('No cache found')
    }
    if (found === undefined) continue
    try {
      await unpackFiles(context, [found])
      trace.line('Successfully extracted cache')
    } catch (error) {
      signal.throwIfAborted()
      trace.warn(`cache could not be extracted: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

export async function saveCaches(context: CacheContext, entries: CacheEntry[]) {
  const { trace, expand, environment, signal } = context
  for (const entry of entries) {
    const key = keysOf(context, { ...entry, fallback_keys: [] })[0]!
    trace.line(`Creating cache ${key}...`)
    const target = filePath(context, key)
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
    // Jobs of other slots may read the old one meanwhile.
    const fresh = `${target}.${randomUUID()}`
    try {
      const [result] = await packFiles(context, [
        {
          file: fresh,
          format: 'zip',
          paths: (entry.paths ?? []).map(expand).filter((pattern) => pattern !== ''),
          exclude: [],
          untracked: entry.untracked === true,
          level: compressionLevel(environment.CACHE_COMPRESSION_LEVEL),
        },
      ])
      if (result!.entries === 0) trace.warn('no files to cache')
      else await rename(fresh, target)
      if (result!.entries > 0) trace.line('Created cache')
    } catch (error) {
      signal.throwIfAborted()
      trace.warn(`cache could not be saved: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      await rm(fresh, { force: true })
    }
  }
}

function keysOf({ expand, environment, trace }: CacheContext, entry: CacheEntry) {
  const keys = [entry.key || 'default', ...(entry.fallback_keys ?? [])].map(expand)
  const fallback = expand(environment.CACHE_FALLBACK_KEY ?? '')
  // The job could name a cache of protected branches here: the server puts the ending only to its own keys.
  if (/-protected\s*$/.test(fallback)) trace.warn(`CACHE_FALLBACK_KEY ${fallback} is not allowed`)
  else if (fallback !== '') keys.push(fallback)
  return keys.filter((key) => key !== '')
}

async function archiveOf(context: CacheContext, key: string) {
  const file = filePath(context, key)
  const stats = await stat(file).catch(() => undefined)
  return stats === undefined ? undefined : file
}

function filePath({ caches, job }: CacheContext, key: string) {
  return path.join(caches, String(Math.trunc(job.job_info.project_id)), cacheFolderName(key), 'cache.zip')
}

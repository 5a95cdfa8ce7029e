import { createHash } from 'node:crypto'
import type { JobConfig } from '../config/config.ts'
import type { Cache, CompileContext } from '../types.ts'

/** The files that some job's cache key is made of, each once. */
export function keyFilesOf(jobs: readonly JobConfig[]): { files: string[]; filesCommits: string[] } {
  const keys = jobs.flatMap(({ entry }) => (entry.cache ?? []).map(({ key }) => key))
  const named = (of: 'files' | 'filesCommits') => [
    ...new Set(keys.flatMap((key) => (typeof key === 'string' ? [] : (key[of] ?? [])))),
  ]
  return { files: named('files'), filesCommits: named('filesCommits') }
}

/**
 * Keys of files as texts: the prefix, and a digest of the ids of the files, `default` where there are none. Without a
 * prefix the position of the cache and the names of the files are it, so that two caches never share a key by chance.
 */
export function resolveCacheKeys(caches: readonly Cache[], known: CompileContext['keyFiles']): Cache[] {
  if (known === undefined) return [...caches]
  return caches.map((cache, index) => {
    const { key } = cache
    if (typeof key === 'string') return cache
    const { files, filesCommits = [], prefix = ownPrefix(index, files) } = key
    const ids = files === undefined ? idsOf(filesCommits, known.filesCommits) : idsOf(files, known.files)
    const digest = ids.length === 0 ? 'default' : createHash('sha1').update(ids.join('-')).digest('hex')
    return { ...cache, key: [prefix, digest].filter((part) => part !== '').join('-') }
  })
}

function ownPrefix(index: number, files: readonly string[] = []): string {
  return [index, ...files.map((file) => file.split('.')[0])].join('_')
}

function idsOf(names: readonly string[], known: Record<string, string[]>): string[] {
  const ids = names.flatMap((name) => (Object.hasOwn(known, name) ? known[name]! : []))
  return [...new Set(ids)].sort()
}

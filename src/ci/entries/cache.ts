import { isMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { Cache, CacheKey } from '../types.ts'
import { outcomes } from './artifacts.ts'
import {
  atMostItems,
  attribute,
  boolean,
  collect,
  entry,
  oneOf,
  readFields,
  string,
  strings,
} from './read.ts'
import type { Read, Spot } from './spot.ts'

const mostCaches = 4
const mostFallbackKeys = 5
const mostKeyFiles = 2

const fields = {
  key: entry(key),
  paths: attribute(strings),
  untracked: attribute(boolean),
  unprotect: attribute(boolean),
  policy: attribute(policy),
  when: attribute(oneOf(outcomes)),
  fallback_keys: attribute(atMostItems(mostFallbackKeys, strings)),
}

/** One cache or a list of them. `spot` is the place of one cache. */
export const caches: Read<Cache[]> = (value, spot) => {
  if (isMap(value)) return collect([value], (one) => cache(one, spot))
  const all = spot.sibling('caches')
  if (!Array.isArray(value)) return spot.fail(entryText.arrayOrHash)
  if (value.length > mostCaches) return all.fail(entryText.tooManyCaches(mostCaches))
  return collect(value, (one) => cache(one, spot))
}

function cache(value: unknown, spot: Spot): Cache | undefined {
  if (!isMap(value)) return spot.fail(entryText.hash)
  const found = readFields(fields, value, spot)
  return {
    key: found.key ?? 'default',
    paths: found.paths ?? [],
    untracked: found.untracked ?? false,
    policy: found.policy ?? 'pull-push',
    when: found.when ?? 'on_success',
    fallbackKeys: found.fallbackKeys ?? [],
    unprotect: found.unprotect ?? false,
  }
}

function policy(value: unknown, spot: Spot): string | undefined {
  const fine =
    typeof value === 'string' && (['pull-push', 'push', 'pull'].includes(value) || value.startsWith('$'))
  return fine ? value : spot.fail(entryText.cachePolicy)
}

const keyFiles: Read<string[]> = (value, spot) => {
  const files = strings(value, spot)
  if (files?.length === 0) return spot.fail(entryText.tooShortList(1))
  return files && files.length > mostKeyFiles ? spot.fail(entryText.tooLongList(mostKeyFiles)) : files
}
const keyFields = { files: entry(keyFiles), files_commits: entry(keyFiles), prefix: entry(keyText) }

function key(value: unknown, spot: Spot): CacheKey | undefined {
  if (typeof value === 'string' || typeof value === 'number') return keyText(String(value), spot)
  if (!isMap(value)) return spot.failHere(entryText.cacheKeyShape)
  return readFields(keyFields, value, spot, (given, at) => {
    if ('files' in given === 'files_commits' in given)
      at.fail(entryText.exactlyOne(['files', 'files_commits']))
  })
}

/** Runners make the name of a file of it. */
function keyText(value: unknown, spot: Spot): string | undefined {
  const text = string(value, spot)
  if (text === undefined) return undefined
  if (/\/|%2f/i.test(text)) return spot.fail(entryText.cacheKeySlash)
  return /^(?:\.|%2e)+$/i.test(text) ? spot.fail(entryText.cacheKeyDots) : text
}

import { storedSize, type RefGuard, type Repository } from '../../git/index.ts'
import type { Settings } from '../../settings/index.ts'

const mebibyte = 1024 * 1024

/**
 * Why a repository that lies here may not have so many bytes beside its objects, which are its large files; undefined
 * where it may.
 */
export async function sizeProblem(
  { values }: Settings,
  place: Repository,
  beside: () => Promise<number>,
): Promise<string | undefined> {
  const limit = values.repository_size_limit
  if (limit === 0) return undefined
  if ((await storedSize(place)) + (await beside()) <= limit * mebibyte) return undefined
  return `Your push has been rejected, because this repository would exceed its size limit of ${limit} MiB.`
}

/** Refuses what would make a repository larger than the instance lets it be. Taking refs away is always possible. */
export function sizeGuard(settings: Settings, largeFileBytes: () => Promise<number>): RefGuard {
  return {
    async check({ updates, objects }) {
      const bringing = updates.filter(({ isDeletion }) => !isDeletion)
      if (bringing.length === 0) return []
      const message = await sizeProblem(settings, objects, largeFileBytes)
      return message === undefined ? [] : bringing.map(({ ref }) => ({ ref, message }))
    },
  }
}

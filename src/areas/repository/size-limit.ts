import { storedSize, type RefGuard } from '../../git/index.ts'
import type { Settings } from '../../settings/index.ts'

const mebibyte = 1024 * 1024

/** Refuses what would make a repository larger than the instance lets it be. Taking refs away is always possible. */
export function sizeGuard({ values }: Settings): RefGuard {
  return {
    async check({ updates, objects }) {
      const limit = values.repository_size_limit
      const bringing = updates.filter(({ isDeletion }) => !isDeletion)
      if (limit === 0 || bringing.length === 0) return []
      if ((await storedSize(objects)) <= limit * mebibyte) return []
      const message = `Your push has been rejected, because this repository would exceed its size limit of ${limit} MiB.`
      return bringing.map(({ ref }) => ({ ref, message }))
    },
  }
}

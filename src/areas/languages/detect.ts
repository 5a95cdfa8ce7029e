import { fileSizes, type Oid, type Repository } from '../../git/index.ts'
import { languageTable, type LanguageTable } from './table.ts'

/** Files that are looked at; what a larger repository has besides does not change its shares. */
const mostFiles = 200_000

/** What others wrote, or programs, as it is mostly called. */
const foreign =
  /(?:^|\/)(?:node_modules|bower_components|vendor|vendors|third[-_]?party|deps|dist|Godeps|\.git|\.yarn|Pods|Carthage)\/|\.min\.(?:js|css)$|(?:^|\/)(?:package-lock\.json|yarn\.lock|go\.sum)$|\.(?:pb|generated)\.\w+$|_pb2\.py$/

/** The share of each language in percent, largest first: by the size of the files of a commit. */
export async function detectLanguages(
  repository: Repository,
  commit: Oid,
): Promise<Readonly<Record<string, number>>> {
  const table = await languageTable()
  const sizes = new Map<string, number>()
  let files = 0
  for await (const { path, size } of fileSizes(repository, commit)) {
    if ((files += 1) > mostFiles) break
    const language = languageOf(path, table)
    if (language !== undefined) sizes.set(language, (sizes.get(language) ?? 0) + size)
  }
  return sharesOf(sizes)
}

export function languageOf(path: string, { byExtension, byFileName }: LanguageTable): string | undefined {
  if (foreign.test(path)) return undefined
  const name = path.slice(path.lastIndexOf('/') + 1)
  const whole = byFileName.get(name)
  if (whole !== undefined) return whole
  // `a.html.erb` is what `.html.erb` is before it is what `.erb` is.
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const extension = name.slice(dot)
    const found = byExtension.get(extension) ?? byExtension.get(extension.toLowerCase())
    if (found !== undefined) return found
  }
  return undefined
}

export function sharesOf(sizes: ReadonlyMap<string, number>): Record<string, number> {
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  if (total === 0) return {}
  return Object.fromEntries(
    [...sizes]
      .sort(([one, large], [other, larger]) => larger - large || one.localeCompare(other, 'en'))
      .map(([name, size]) => [name, Math.round((size * 10_000) / total) / 100]),
  )
}

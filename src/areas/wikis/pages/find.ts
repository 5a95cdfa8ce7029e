import { LruMap } from '../../../kernel/lib/lru.ts'
import { listTree, parsePath, type Oid, type Repository, type TreeEntry } from '../../../git/index.ts'
import { pageName, splitPath, type PageName } from './files.ts'

/** A page as a commit has it. */
export interface PageFile extends PageName {
  readonly path: string
  /** Of its content. */
  readonly oid: Oid
}

/** The page in an entry of a tree. A symbolic link is none: it would show what lies elsewhere. */
export function pageOf({ type, mode, path, oid }: TreeEntry): PageFile | undefined {
  if (type !== 'blob' || mode === '120000') return undefined
  const name = pageName(path)
  return name === undefined ? undefined : { ...name, path, oid }
}

/** Blanks and hyphens are one. */
export function wantedSlug(slug: string): string {
  return slug.replaceAll(' ', '-')
}

/** Every page of one commit: what is there never changes, so it is read once and kept. */
export interface PageIndex {
  /** By slug, in the order of its bytes. */
  readonly pages: readonly PageFile[]
  readonly bySlug: ReadonlyMap<string, PageFile>
}

/** Pages kept in memory, over all wikis; some 150 MB at worst. */
const keptPages = 500_000

export class PageIndexes {
  readonly #kept = new LruMap<Oid, PageIndex>(keptPages)
  readonly #reading = new Map<Oid, Promise<PageIndex>>()

  /** One walk of the tree, by one process, however many pages there are. */
  async of(repository: Repository, commit: Oid): Promise<PageIndex> {
    const kept = this.#kept.get(commit)
    if (kept !== undefined) return kept
    let reading = this.#reading.get(commit)
    if (reading === undefined) {
      reading = read(repository, commit)
        .then((index) => {
          this.#kept.set(commit, index, index.pages.length + 1)
          return index
        })
        .finally(() => this.#reading.delete(commit))
      this.#reading.set(commit, reading)
    }
    return reading
  }

  /** The page of a slug. Mostly its folder is all that is looked at. */
  async find(repository: Repository, commit: Oid, slug: string): Promise<PageFile | undefined> {
    const wanted = wantedSlug(slug)
    if (this.#kept.get(commit) === undefined) {
      const near = await pagesBeside(repository, commit, wanted)
      const found = near.find((page) => page.slug === wanted)
      if (found !== undefined) return found
    }
    return (await this.of(repository, commit)).bySlug.get(wanted)
  }
}

/** The pages of the folder that a page of this slug would lie in. */
export async function pagesBeside(repository: Repository, commit: Oid, slug: string): Promise<PageFile[]> {
  const folder = parsePath(splitPath(slug).folder)
  if (folder === undefined) return []
  const tree = await listTree(repository, commit, folder)
  return (tree?.entries ?? []).flatMap((entry) => pageOf(entry) ?? [])
}

async function read(repository: Repository, commit: Oid): Promise<PageIndex> {
  const tree = await listTree(repository, commit, parsePath('')!, { recursive: true })
  const bySlug = new Map<string, PageFile>()
  for (const entry of tree?.entries ?? []) {
    const page = pageOf(entry)
    // Of `a.md` and `a.org`, or `a b.md` and `a-b.md`, the first is the page.
    if (page !== undefined && !bySlug.has(page.slug)) bySlug.set(page.slug, page)
  }
  const bytes = new Map([...bySlug.keys()].map((slug) => [slug, Buffer.from(slug)]))
  const pages = [...bySlug.values()].sort((a, b) => bytes.get(a.slug)!.compare(bytes.get(b.slug)!))
  return { pages, bySlug }
}

import { userOf, type Actor } from '../../access/index.ts'
import { parseFilePath, type FileAction, type Oid, type Repository } from '../../git/index.ts'
import { conflict, notFound } from '../../kernel/errors/index.ts'
import type { Base, Planned, WikiCommits } from './commit.ts'
import { extensions, pageName, type PageFormat } from './pages/files.ts'
import { pagesBeside, type PageFile, type PageIndexes } from './pages/find.ts'
import { withTitle } from './pages/front-matter.ts'
import { readContent } from './pages/content.ts'
import { redirectActions } from './pages/redirects.ts'
import * as rules from './rules.ts'
import type { Wiki } from './store.ts'

export interface WriteServices {
  readonly commits: WikiCommits
  readonly indexes: PageIndexes
  /** Bytes that a page may have. */
  readonly largestPage: () => number
}

/** A page as a write left it. */
export interface Written {
  readonly path: string
  readonly content: string
}

export interface NewPage {
  readonly title: string
  readonly content: string
  readonly format: PageFormat
  /** Written into the front matter. */
  readonly shownTitle?: string | undefined
}

export async function createPage(
  { commits, largestPage }: WriteServices,
  wiki: Wiki,
  actor: Actor,
  { title, content, format, shownTitle }: NewPage,
): Promise<Written> {
  const slug = rules.slugOf(title)
  rules.checkSlug(slug)
  const text = shownTitle === undefined ? content : withTitle(content, shownTitle)
  rules.checkSize(text, largestPage())
  const path = rules.filePath(slug, `.${extensions[format]}`)
  const { result } = await commits.change(wiki, actor, 'Could not create wiki page', async (base) => {
    if (await isTaken(base, slug)) throw rules.duplicate()
    return {
      actions: [{ action: 'create', path, content: Buffer.from(text) }],
      message: messageOf(actor, 'created', slug),
      result: { path, content: text },
    }
  })
  return result
}

export interface PageEdit {
  readonly title?: string | undefined
  readonly content?: string | undefined
  readonly format?: PageFormat | undefined
  readonly shownTitle?: string | undefined
  /** Whether the page is still what the editor saw; throws when not. */
  readonly unchanged?: ((repository: Repository, present: PageFile, head: Oid) => Promise<void>) | undefined
}

/** What is not given stays as it is, the extension of the file too. */
export async function editPage(
  { commits, indexes, largestPage }: WriteServices,
  wiki: Wiki,
  actor: Actor,
  slug: string,
  edit: PageEdit,
): Promise<Written> {
  const plan = async ({ repository, head }: Base): Promise<Planned<Written>> => {
    const present = head === undefined ? undefined : await indexes.find(repository, head, slug)
    if (head === undefined || present === undefined) throw notFound('Wiki Page')
    await edit.unchanged?.(repository, present, head)
    const before = await readContent(repository, present)
    const body = edit.content ?? before.content
    const content = edit.shownTitle === undefined ? body : withTitle(body, edit.shownTitle)
    // The bytes that are there stay where no content is given: they need not be UTF-8.
    const changed =
      (edit.content !== undefined || edit.shownTitle !== undefined) && content !== before.content
    if (changed) rules.checkSize(content, largestPage())
    const path = await newPath({ repository, head }, present, edit)
    const actions: FileAction[] = []
    if (path !== present.path) {
      const from = parseFilePath(present.path)!
      const to = rules.filePath(path.slice(0, path.lastIndexOf('.')), path.slice(path.lastIndexOf('.')))
      actions.push({
        action: 'move',
        previousPath: from,
        path: to,
        ...(changed && { content: Buffer.from(content) }),
      })
      const target = pageName(path)!.slug
      if (target !== present.slug)
        actions.push(...(await redirectActions(repository, head, present.slug, target)))
    } else if (changed) {
      actions.push({ action: 'update', path: parseFilePath(path)!, content: Buffer.from(content) })
    }
    return { actions, message: messageOf(actor, 'updated', pageName(path)!.slug), result: { path, content } }
  }
  const { result } = await commits.change(wiki, actor, 'Could not update wiki page', plan)
  return result
}

export async function deletePage(
  { commits, indexes }: WriteServices,
  wiki: Wiki,
  actor: Actor,
  slug: string,
): Promise<void> {
  await commits.change(wiki, actor, 'Could not delete wiki page', async ({ repository, head }) => {
    const present = head === undefined ? undefined : await indexes.find(repository, head, slug)
    if (present === undefined) throw notFound('Wiki Page')
    return {
      actions: [{ action: 'delete', path: parseFilePath(present.path)! }],
      message: messageOf(actor, 'deleted', present.slug),
      result: undefined,
    }
  })
}

/** Refuses an edit that began with another content than the page has now. */
export function mustBeAsIn(indexes: PageIndexes, version: Oid): NonNullable<PageEdit['unchanged']> {
  return async (repository, present) => {
    const seen = await indexes.find(repository, version, present.slug)
    if (seen?.oid !== present.oid || seen.path !== present.path) throw conflict(rules.changedMeanwhile)
  }
}

async function newPath(
  { repository, head }: { repository: Repository; head: Oid },
  present: PageFile,
  { title, format }: PageEdit,
): Promise<string> {
  const extension =
    format === undefined || format === present.format ? present.extension : `.${extensions[format]}`
  const slug = title === undefined ? present.slug : rules.movedSlug(present.slug, title)
  if (slug === present.slug && extension === present.extension) return present.path
  if (slug === present.slug) {
    const there = await pagesBeside(repository, head, slug)
    const path = `${present.path.slice(0, -present.extension.length)}${extension}`
    if (there.some((page) => page.path === path)) throw rules.taken()
    return path
  }
  rules.checkSlug(slug)
  const taken = (await pagesBeside(repository, head, slug)).some(
    (page) => page.path !== present.path && sameName(page.slug, slug),
  )
  if (taken) throw rules.taken()
  return rules.filePath(slug, extension)
}

async function isTaken({ repository, head }: Base, slug: string): Promise<boolean> {
  if (head === undefined) return false
  return (await pagesBeside(repository, head, slug)).some((page) => sameName(page.slug, slug))
}

/** Names that differ in nothing but case would be one file on many machines. */
function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function messageOf(actor: Actor, done: 'created' | 'updated' | 'deleted', slug: string): string {
  return `${userOf(actor).username} ${done} page: ${slug.replaceAll('-', ' ')}`
}

import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { countCommits, grep, listCommits, type Oid, type Repository } from '../../git/index.ts'
import { Page, type PageInput } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { commitEntity, readable, resolveName } from '../repository/index.ts'
import type { SearchServices } from './index.ts'

/** What is looked for in a project, and at which commit; by default the head of its default branch. */
export interface WantedCode {
  readonly search: string
  readonly ref: string | undefined
}

export interface CodeCall {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly page: PageInput
  readonly signal: AbortSignal
}

/** Lines that are looked at; who gets as many should ask for something rarer. */
const mostLines = 10_000
/** Characters of what is shown. */
const longestData = 5000
const mostCounted = 1000

const none = (): Page<never> => new Page([], { total: 0 })

async function placeOf(
  { places }: SearchServices,
  { actor, project }: CodeCall,
  ref: string | undefined,
): Promise<{ repository: Repository; commit: Oid } | undefined> {
  if (!may(actor, 'read_code', project)) return undefined
  const repository = await readable(places, project)
  const commit = await resolveName(repository, ref ?? project.defaultBranch ?? undefined)
  if (repository !== undefined && commit !== undefined) return { repository, commit }
  if (ref !== undefined) throw notFound('Ref')
  return undefined
}

/** The places in the files of a commit that hold a text, whatever its case: lines that follow one another are one. */
export async function searchBlobs(
  services: SearchServices,
  call: CodeCall,
  { search, ref }: WantedCode,
): Promise<Page<unknown>> {
  const where = await placeOf(services, call, ref)
  if (where === undefined) return none()
  const { offset, perPage } = call.page
  const lines = await grep(where.repository, where.commit, search, { limit: mostLines, signal: call.signal })
  const found: { path: string; first: number; last: number; text: string }[] = []
  for (const { path, line, text } of lines) {
    const before = found.at(-1)
    if (before?.path === path && before.last + 1 === line) {
      before.last = line
      if (before.text.length < longestData) before.text += `${text}\n`
    } else found.push({ path, first: line, last: line, text: `${text}\n` })
  }
  const shown = found.slice(offset, offset + perPage).map(({ path, first, text }) => ({
    basename: path.replace(/\.[^./]*$/, ''),
    data: text.slice(0, longestData),
    path,
    filename: path,
    id: null,
    ref: ref ?? call.project.defaultBranch,
    startline: first,
    project_id: call.project.id,
  }))
  return new Page(shown, { total: found.length, hasMore: offset + perPage < found.length })
}

/** The commits whose message holds a text, the newest first. */
export async function searchCommits(
  services: SearchServices,
  call: CodeCall,
  { search, ref }: WantedCode,
): Promise<Page<unknown>> {
  const where = await placeOf(services, call, ref)
  if (where === undefined) return none()
  const { repository, commit } = where
  const { offset, perPage } = call.page
  const filter = { revs: [commit], message: search }
  const found = await listCommits(repository, { ...filter, skip: offset, limit: perPage + 1 })
  const counted =
    offset === 0 && found.length <= perPage
      ? found.length
      : await countCommits(repository, filter, mostCounted)
  const url = `${services.externalUrl()}/${call.project.fullPath}`
  return new Page(
    found.slice(0, perPage).map((one) => commitEntity(one, url)),
    { total: counted < mostCounted ? counted : undefined, hasMore: found.length > perPage },
  )
}

import { sql } from '../kernel/db/index.ts'
import { isAdministrator, type Actor } from './actor.ts'
import { may } from './decide.ts'
import { Role, Visibility } from './levels.ts'
import { featureOpen } from './noteables.ts'
import type { ProjectSubject } from './subjects.ts'
import { memberProjects, projectVisible } from './visible.ts'

/*
 * Which snippets `s` the caller may read, as SQL inside a `read` of an endpoint.
 */

/** By the snippet's own visibility, to who sees its project. */
const snippetOpen = sql`(
  s.visibility = ${sql.lit(Visibility.public)} or s.author_id = actor.id or actor.admin
  or (s.visibility = ${sql.lit(Visibility.internal)} and not actor.external))`

/** Those of nobody's project. */
export const personalSnippetVisible = sql`(s.project_id is null and ${snippetOpen})`

/** Those of the project that the endpoint is about: its members read the private ones too. */
export const projectSnippetVisible = sql`(
  s.project_id = subject.id and (${snippetOpen} or membership.role >= 10))`

/** Those of users and of projects `p`, which is to be joined. */
export const snippetVisibleAnywhere = sql`(
  (p.id is null and ${snippetOpen}) or (${projectVisible}
    and ${featureOpen('snippets', sql`p.feature_levels`, sql`p.id in (${memberProjects()})`)}
    and (${snippetOpen} or p.id in (${memberProjects()}))))`

/** A snippet that was read without asking who reads it. */
export interface SnippetFacts {
  readonly visibility: number
  readonly authorId: number | null
  /** Undefined: it is nobody's project's. */
  readonly project: ProjectSubject | undefined
}

const wrote = ({ user }: Actor, { authorId }: SnippetFacts): boolean => user !== null && user.id === authorId

/** The same as the conditions above for one snippet. */
export function readsSnippet(actor: Actor, snippet: SnippetFacts): boolean {
  const { visibility, project } = snippet
  if (project !== undefined) {
    if (!may(actor, 'read_snippet', project)) return false
    if (project.role >= Role.guest) return true
  }
  if (visibility === Visibility.public || wrote(actor, snippet) || isAdministrator(actor)) return true
  return visibility === Visibility.internal && actor.user !== null && !actor.user.external
}

/** Who wrote it changes it, and who looks after the snippets of its project. */
export function mayWriteSnippet(actor: Actor, snippet: SnippetFacts): boolean {
  const { project } = snippet
  if (!readsSnippet(actor, snippet)) return false
  if (project === undefined) return wrote(actor, snippet) || isAdministrator(actor)
  if (!may(actor, 'update_snippet', project)) return false
  return wrote(actor, snippet) || may(actor, 'admin_snippet', project)
}

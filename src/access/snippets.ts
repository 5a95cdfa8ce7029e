import { sql } from 'kysely'
import { Visibility } from './levels.ts'

/*
 * Which snippets `s` the caller may read, as SQL inside a `read` of an endpoint.
 */

/** By the snippet's own visibility, to who sees its project. */
export const snippetOpen = sql`(
  s.visibility = ${sql.lit(Visibility.public)} or s.author_id = actor.id or actor.admin
  or (s.visibility = ${sql.lit(Visibility.internal)} and not actor.external))`

/** Those of nobody's project. */
export const personalSnippetVisible = sql`(s.project_id is null and ${snippetOpen})`

/** Those of the project that the endpoint is about: its members read the private ones too. */
export const projectSnippetVisible = sql`(
  s.project_id = subject.id and (${snippetOpen} or membership.role >= 10))`

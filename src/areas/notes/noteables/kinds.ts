import { sql } from 'kysely'
import {
  may,
  project,
  projectSnippetVisible,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { Id, Text } from '../../../kernel/endpoint/index.ts'
import type { Noteable, Place } from './noteable.ts'

const inProject =
  (check: (actor: Actor, of: ProjectSubject) => boolean) =>
  (actor: Actor, place: Place): boolean =>
    place.kind === 'project' && check(actor, place)

export const snippetNoteable: Noteable = {
  kind: 'Snippet',
  on: project,
  path: '/projects/:id/snippets/:snippet_id',
  param: 'snippet_id',
  paramType: Id(),
  called: 'a snippet',
  find: (id) => sql`
    select s.id as target_id, null::bigint as iid, null::text as sha, s.author_id, false as locked
    from snippets s where s.id = ${id} and ${projectSnippetVisible}`,
  mayRead: inProject((actor, of) => may(actor, 'read_snippet', of)),
  table: 'snippets',
  resolvable: false,
  internal: false,
  answers: true,
  flat: true,
  diffs: false,
}

export const commitNoteable: Noteable = {
  kind: 'Commit',
  on: project,
  path: '/projects/:id/repository/commits/:commit_id',
  param: 'commit_id',
  paramType: Text(),
  called: 'a commit',
  find: (sha) => sql`
    select null::bigint as target_id, null::bigint as iid, ${sha}::text as sha, null::bigint as author_id,
      false as locked`,
  mayRead: inProject((actor, of) => may(actor, 'read_code', of)),
  resolvable: false,
  internal: false,
  answers: false,
  flat: false,
  diffs: true,
}

/** Everything that can be discussed. */
export const noteables: readonly Noteable[] = [snippetNoteable, commitNoteable]

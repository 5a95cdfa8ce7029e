import {
  instance,
  isAdministrator,
  may,
  project,
  type Actor,
  type InstanceSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import type { AbilityOf, SubjectKind } from '../../kernel/endpoint/index.ts'
import type { SnippetRow } from './entities.ts'

type Subject = ProjectSubject | InstanceSubject

/** One of the two places that snippets lie in, and how its endpoints are declared. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: 'project' | 'personal'
  readonly on: Kind
  readonly path: string
  /** Path of a single one. */
  readonly single: string
  /** As in `Get a snippet of a project`. */
  readonly called: string
  readonly reading: AbilityOf<Kind>
  readonly listing: AbilityOf<Kind>
  readonly creating: AbilityOf<Kind>
  readonly changing: AbilityOf<Kind>
  readonly inspecting: AbilityOf<Kind>
  /** The branch of a new one, and whose it is. */
  readonly subject: (call: object) => Subject
  readonly mayChange: (actor: Actor, subject: Subject, row: SnippetRow) => boolean
  readonly mayRemove: (actor: Actor, subject: Subject, row: SnippetRow) => boolean
}

const wrote = (actor: Actor, { author }: SnippetRow): boolean =>
  actor.user !== null && author?.id === actor.user.id

export const projectPlace: Place<typeof project> = {
  kind: 'project',
  on: project,
  path: '/projects/:id/snippets',
  single: '/projects/:id/snippets/:snippet_id',
  called: 'a project',
  reading: 'read_snippet',
  listing: 'read_snippet',
  creating: 'create_snippet',
  changing: 'update_snippet',
  inspecting: 'read_user_agent',
  subject: (call) => (call as { project: ProjectSubject }).project,
  mayChange: (actor, subject, row) =>
    wrote(actor, row) || may(actor, 'admin_snippet', subject as ProjectSubject),
  mayRemove: (actor, subject, row) =>
    (wrote(actor, row) && may(actor, 'create_snippet', subject as ProjectSubject)) ||
    may(actor, 'admin_snippet', subject as ProjectSubject),
}

export const personalPlace: Place<typeof instance> = {
  kind: 'personal',
  on: instance,
  path: '/snippets',
  single: '/snippets/:snippet_id',
  called: 'a user',
  reading: 'use_instance',
  listing: 'read_instance',
  creating: 'create_snippet',
  changing: 'read_instance',
  inspecting: 'admin_instance',
  subject: (call) => (call as { instance: InstanceSubject }).instance,
  mayChange: (actor, _, row) => wrote(actor, row) || isAdministrator(actor),
  mayRemove: (actor, _, row) => wrote(actor, row) || isAdministrator(actor),
}

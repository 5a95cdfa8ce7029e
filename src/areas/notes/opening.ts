import type { Actor } from '../../access/index.ts'
import { notFound, recordNotFound } from '../../kernel/errors/index.ts'
import type { Endpoint, Read } from '../../kernel/endpoint/index.ts'
import { commitNamed } from '../repository/index.ts'
import type { DiscussionRow, FlatRow, Shown } from './entities.ts'
import type { NotesRoom } from './index.ts'
import type { Noteable, Place } from './noteables/noteable.ts'
import type { Opened } from './read.ts'
import { readNow } from './read.ts'
import type { Target } from './write.ts'

/** What a handler gets, whatever the noteable lies in. */
export interface NoteCall<Row> {
  readonly actor: Actor
  readonly project?: unknown
  readonly group?: unknown
  readonly rows: readonly Row[]
  readonly params: Readonly<Record<string, unknown>>
}

export function placeOf(call: { readonly project?: unknown; readonly group?: unknown }): Place {
  return (call.project ?? call.group) as Place
}

export function namedBy({ param }: Noteable, params: object): string | number {
  return (params as Record<string, string | number>)[param]!
}

/** A noteable that the caller reads, with what was read of it. */
export interface Open<Item> {
  readonly place: Place
  readonly found: Opened<Item>
  /** Null: all notes of it are hidden. */
  readonly items: readonly (Item | null)[]
  readonly shown: Shown
  readonly target: Target
}

/**
 * Lets a call go on with the noteable that it names: `404 Issue Not Found` where the caller reads none of that name.
 * `read` is what the endpoint has read; a commit that was named otherwise than by its id is read now.
 */
export async function open<Item>(
  { db, places, externalUrl }: NotesRoom,
  noteable: Noteable,
  call: NoteCall<Opened<Item>>,
  read: (named: string | number) => Read<Opened<Item>>,
): Promise<Open<Item>> {
  const place = placeOf(call)
  const { actor } = call
  const missing = notFound(noteable.kind)
  if (!noteable.mayRead(actor, place)) throw missing
  let [found] = call.rows
  if (noteable.kind === 'Commit' && place.kind === 'project') {
    const { commit } = await commitNamed(places, place, String(namedBy(noteable, call.params)))
    if (found?.sha !== commit.oid) found = await readNow(db.reader, actor, place, read(commit.oid))
  }
  if (found === undefined) throw missing
  return {
    place,
    found,
    items: found.items ?? [],
    shown: { noteable, place, found, externalUrl: externalUrl() },
    target: {
      kind: noteable.kind,
      id: found.target_id,
      sha: found.sha,
      projectId: place.kind === 'project' ? place.id : null,
      namespaceId: place.kind === 'group' ? place.id : null,
    },
  }
}

export function onlyDiscussion(
  { items: [discussion] }: Open<DiscussionRow>,
  sought: 'Discussion' | 'Notes',
): DiscussionRow {
  if (discussion == null) throw notFound(sought)
  return discussion
}

export function noteIn(discussion: DiscussionRow, noteId: number): FlatRow {
  const { notes, ...fields } = discussion
  const note = notes.find(({ id }) => id === noteId)
  if (note === undefined) throw recordNotFound()
  return { ...fields, note }
}

/** What all endpoints of a kind of noteable have in common. */
export function aboutOf({
  kind,
  on,
  plan,
}: Noteable): Pick<Endpoint, 'on' | 'may' | 'plan' | 'missingBelowPlan' | 'refuses'> {
  return {
    on,
    may: on.name === 'project' ? 'read_project' : 'read_group',
    ...(plan !== undefined && { plan, missingBelowPlan: kind }),
    refuses: { 404: `No such thing: \`404 ${kind} Not Found\`` },
  }
}

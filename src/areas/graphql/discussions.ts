import { isEditor, isResolver } from '../notes/index.ts'
import type { Asking, Shown } from './asking.ts'
import { connectionOf, type PageArguments } from './connections.ts'
import { globalId } from './ids.ts'
import { user, type ShownUser } from './people.ts'
import { mayWrite } from './rights.ts'
import { discussionOfNote } from './store.ts'

/** What notes have to know of the issue or merge request that they are about. */
export interface NoteableFacts {
  /** Below `/api/v4`. */
  readonly path: string
  readonly projectId: number
  readonly webUrl: string
  readonly locked: boolean
  readonly authorId: number | undefined
}

export interface ShownDiscussion {
  readonly id: string
  readonly notes: readonly ShownNote[]
}

export interface ShownNote extends Shown {
  readonly type: string | null
  readonly body: string
  readonly system: boolean
  readonly author: ShownUser | null
  readonly created_at: string
  readonly resolvable: boolean
  /** Only where it is resolvable, as the next two. */
  readonly resolved?: boolean
  readonly resolved_by?: ShownUser | null
  readonly resolved_at?: string | null
  /** Only where it stands at a line. */
  readonly position?: { readonly old_path: string | null; readonly new_path: string | null }
}

export function discussion(
  asking: Asking,
  facts: NoteableFacts,
  { id: key, notes }: ShownDiscussion,
): unknown {
  const id = globalId('Discussion', key)
  const resolvable = notes.filter((one) => one.resolvable)
  const resolved = resolvable.length > 0 && resolvable.every((one) => one.resolved)
  // Who resolved the last of its notes resolved the discussion.
  const last = resolved ? resolvable.toSorted(byResolution).at(-1) : undefined
  return {
    id,
    replyId: id,
    createdAt: notes[0]?.created_at,
    resolvable: resolvable.length > 0,
    resolved,
    resolvedAt: last?.resolved_at,
    resolvedBy: user(last?.resolved_by),
    notes: (asked: PageArguments) =>
      connectionOf(notes, asked, (one) => note(asking, facts, one, { id: key, notes })),
  }
}

const byResolution = (one: ShownNote, other: ShownNote): number =>
  Date.parse(one.resolved_at ?? '') - Date.parse(other.resolved_at ?? '')

/** `within`: the discussion that the note is in, where it is known. */
export function note(
  asking: Asking,
  facts: NoteableFacts,
  shown: ShownNote,
  within?: ShownDiscussion,
): unknown {
  const { actor, services } = asking
  return {
    ...shown,
    id: globalId(shown.type ?? 'Note', shown.id),
    bodyHtml: async () =>
      services.texts.renderMarkdown(shown.body, actor, await asking.project(facts.projectId)),
    url: `${facts.webUrl}#note_${shown.id}`,
    resolved: shown.resolved ?? false,
    resolvedBy: user(shown.resolved_by),
    author: user(shown.author),
    position: position(shown),
    discussion: async () => {
      const found = within ?? (await discussionWith(asking, facts, shown.id))
      return found && discussion(asking, facts, found)
    },
    userPermissions: {
      createNote: () => mayWrite(asking, facts),
      adminNote: () => mayWrite(asking, facts, (place) => isEditor(actor, place, shown)),
      resolveNote: () =>
        mayWrite(asking, facts, (place) => shown.resolvable && isResolver(actor, place, facts.authorId)),
    },
  }
}

async function discussionWith(
  asking: Asking,
  { path }: NoteableFacts,
  noteId: number,
): Promise<ShownDiscussion | undefined> {
  const found = await discussionOfNote(asking.services.db.reader, noteId)
  return found && asking.get<ShownDiscussion>(`${path}/discussions/${found.key}`)
}

/** The commits of a position stand beside its lines. */
function position({ position: shown }: ShownNote): unknown {
  return shown && { ...shown, diffRefs: shown, filePath: shown.new_path ?? shown.old_path }
}

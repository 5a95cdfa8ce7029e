import { outOfReach, Refused, type Asking } from './asking.ts'
import { discussion, note, type NoteableFacts, type ShownDiscussion, type ShownNote } from './discussions.ts'
import { readDiscussionId, readGlobalId } from './ids.ts'
import { factsOf, issues, mergeRequests, showNoteable, type Noteables } from './noteables.ts'
import { discussionByKey, discussionOfNote, noteableById, type NoteablePlace } from './store.ts'

interface Input {
  readonly clientMutationId?: string | null
}

interface Position {
  readonly baseSha?: string | null
  readonly headSha: string
  readonly startSha: string
  readonly paths: { readonly oldPath?: string | null; readonly newPath?: string | null }
  readonly positionType: string
  readonly oldLine?: number | null
  readonly newLine?: number | null
}

/** What is answered where a text was commands alone, and became no note. */
interface Obeyed {
  readonly id?: undefined
}

const noteables: readonly Noteables[] = [issues, mergeRequests]
const noteTypes = ['Note', 'DiscussionNote', 'DiffNote'] as const

/** What writes: each is a call of the API, whose refusals are the mutation's own errors. */
export function mutations(asking: Asking): object {
  const { reader } = asking.services.db

  /** The thing that is written about, as far as the caller may know of it. */
  const about = async (place: NoteablePlace | undefined): Promise<NoteableFacts> => {
    const kind = noteables.find((one) => one.kind === place?.kind)
    const shown = kind && place && (await showNoteable(asking, kind, place.project_id, place.iid))
    if (kind === undefined || shown === undefined) throw outOfReach()
    return factsOf(kind, shown)
  }
  const noteable = async (sent: unknown): Promise<NoteableFacts> =>
    about(await noteableById(reader, readGlobalId(sent, 'Issue', 'MergeRequest')))
  const noteNamed = async (sent: unknown): Promise<{ facts: NoteableFacts; path: string }> => {
    const { id } = readGlobalId(sent, ...noteTypes)
    const facts = await about(await discussionOfNote(reader, id))
    return { facts, path: `${facts.path}/notes/${id}` }
  }

  return {
    createNote: mutation<{
      readonly noteableId: unknown
      readonly body: string
      readonly internal?: boolean | null
      readonly discussionId?: unknown
      readonly mergeRequestDiffHeadSha?: string | null
    }>(async ({ noteableId, body, internal, discussionId, mergeRequestDiffHeadSha: head }) => {
      const facts = await noteable(noteableId)
      const answered = discussionId == null ? '' : `/discussions/${readDiscussionId(discussionId)}`
      const written = await asking.write<ShownNote | Obeyed>('POST', `${facts.path}${answered}/notes`, {
        body,
        ...(internal != null && answered === '' && { internal }),
        ...(head != null && answered === '' && { merge_request_diff_head_sha: head }),
      })
      return { note: noteOf(asking, facts, written) }
    }),

    createDiffNote: mutation<{
      readonly noteableId: unknown
      readonly body: string
      readonly position: Position
    }>(async ({ noteableId, body, position }) => {
      const facts = await noteable(noteableId)
      const begun = await asking.write<ShownDiscussion | Obeyed>('POST', `${facts.path}/discussions`, {
        body,
        position: {
          base_sha: position.baseSha,
          start_sha: position.startSha,
          head_sha: position.headSha,
          position_type: position.positionType,
          old_path: position.paths.oldPath,
          new_path: position.paths.newPath,
          old_line: position.oldLine,
          new_line: position.newLine,
        },
      })
      return { note: begun?.id === undefined ? null : note(asking, facts, begun.notes[0]!, begun) }
    }),

    updateNote: mutation<{ readonly id: unknown; readonly body?: string | null }>(async ({ id, body }) => {
      const { facts, path } = await noteNamed(id)
      const written = await asking.write<ShownNote | Obeyed>('PUT', path, { body: body ?? '' })
      return { note: noteOf(asking, facts, written) }
    }),

    destroyNote: mutation<{ readonly id: unknown }>(async ({ id }) => {
      const { path } = await noteNamed(id)
      await asking.write('DELETE', path)
      return { note: null }
    }),

    discussionToggleResolve: mutation<{ readonly id: unknown; readonly resolve: boolean }>(
      async ({ id, resolve }) => {
        const key = readDiscussionId(id)
        const facts = await about(await discussionByKey(reader, key))
        const path = `${facts.path}/discussions/${key}`
        const changed = await asking.write<ShownDiscussion>('PUT', path, { resolved: resolve })
        return { discussion: changed && discussion(asking, facts, changed) }
      },
    ),
  }
}

function noteOf(asking: Asking, facts: NoteableFacts, written: ShownNote | Obeyed | undefined): unknown {
  return written?.id === undefined ? null : note(asking, facts, written)
}

function mutation<Fields>(work: (input: Fields) => Promise<object>) {
  return async ({ input }: { readonly input: Fields & Input }): Promise<object> => {
    const { clientMutationId } = input
    try {
      return { ...(await work(input)), errors: [], clientMutationId }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { errors: [error.message], clientMutationId }
    }
  }
}

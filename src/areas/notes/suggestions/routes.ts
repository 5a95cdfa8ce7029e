import { endpoint, instance } from '../../../access/index.ts'
import { Fields, Id, ListOf, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { invalidParameters } from '../../../kernel/errors/index.ts'
import { Suggestion, suggestionEntity } from '../entities.ts'
import type { NotesRoom } from '../index.ts'
import { applySuggestions } from './apply.ts'

/** Of one commit. */
const mostSuggestions = 100

const about = {
  method: 'PUT',
  on: instance,
  may: 'read_instance',
  refuses: {
    400: 'A suggestion cannot be applied, or not any more',
    403: 'The caller may not push to the source branch of the merge request',
    404: 'No such suggestion: `404 Suggestion Not Found`',
  },
} as const
const message = {
  commit_message: Optional(
    Text({ blank: false, maxLength: 1_000_000, description: 'Instead of what the project has set' }),
  ),
}

/** Suggestions as they are applied; notes show them. */
export function suggestionEndpoints(room: NotesRoom): Endpoint[] {
  return [
    endpoint({
      ...about,
      path: '/suggestions/:id/apply',
      summary: 'Commit what a suggestion proposes to the branch of its merge request',
      params: Fields({ id: Id(), ...message }),
      answers: Suggestion,
      async handle({ actor, params }) {
        const [row] = await applySuggestions(room, actor, [params.id], params.commit_message)
        return suggestionEntity(row!, row!.position)
      },
    }),

    endpoint({
      ...about,
      path: '/suggestions/batch_apply',
      summary: 'Commit what several suggestions of a merge request propose, in one commit',
      params: Fields({ ids: ListOf(Id()), ...message }),
      answers: ListOf(Suggestion),
      async handle({ actor, params }) {
        const { ids } = params
        if (ids.length === 0) throw invalidParameters(['ids is empty'])
        if (ids.length > mostSuggestions) throw invalidParameters(['ids is too long'])
        const rows = await applySuggestions(room, actor, ids, params.commit_message)
        return rows.map((row) => suggestionEntity(row, row.position))
      },
    }),
  ]
}

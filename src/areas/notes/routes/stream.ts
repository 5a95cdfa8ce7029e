import { endpoint } from '../../../access/index.ts'
import { Answer, Fields, Json, type Endpoint, type RequestFacts } from '../../../kernel/endpoint/index.ts'
import type { NotesRoom } from '../index.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { aboutOf, namedBy, open, type NoteCall } from '../opening.ts'
import * as read from '../read.ts'

/** The notes of one kind of noteable as they are written, changed, resolved and deleted. */
export function streamEndpoint(room: NotesRoom, noteable: Noteable): Endpoint {
  return endpoint({
    ...aboutOf(noteable),
    method: 'GET',
    path: `${noteable.path}/discussions/stream`,
    summary: `Follow the notes of ${noteable.called} as server-sent events`,
    description:
      'Events `created`, `updated` and `deleted`; goes on after the one that `Last-Event-ID` names. Who does not accept `text/event-stream` gets what is there, and the end.',
    params: Fields({ [noteable.param]: noteable.paramType }),
    answers: Json({ description: 'Server-sent events' }),
    read: ({ params }) => read.alone(noteable, namedBy(noteable, params)),
    async handle(call) {
      const { actor, request } = call as unknown as NoteCall<never> & { request: RequestFacts }
      const { found, shown, target } = await open(room, noteable, call as never, (named) =>
        read.alone(noteable, named),
      )
      const headers = {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      }
      if (request.method === 'HEAD') return new Answer(200, headers)
      const last = String(request.headers['last-event-id'] ?? '')
      const stream = await room.streams.follow({
        noteable,
        named: found.sha ?? namedBy(noteable, call.params),
        actor,
        shown,
        target,
        since: /^\d{1,15}$/.test(last) ? Number(last) : undefined,
        signal: request.signal,
        live: (request.headers.accept ?? '').includes('text/event-stream'),
      })
      return new Answer(200, headers, stream)
    },
  })
}

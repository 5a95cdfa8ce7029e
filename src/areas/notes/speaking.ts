import type { Actor } from '../../access/index.ts'
import { Answer, type InnerCaller } from '../../kernel/endpoint/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import type { Command, CommandTarget, Outcome } from './commands.ts'
import type { NotesRoom } from './index.ts'
import type { Open } from './opening.ts'
import { isPublic } from './public.ts'
import { noteFault } from './rules.ts'

export interface Speech {
  readonly actor: Actor
  readonly request: InnerCaller
  readonly opened: Open<unknown>
  readonly body: string
  /** The note that it changes. */
  readonly before?: { readonly created_at: string; readonly updated_at: string }
  /** Only members read it. */
  readonly internal?: boolean
  readonly head?: string | undefined
}

/** What is left of a text to be said, and what is done otherwise: gives the answer's changes by commands. */
interface Saying<Entity> {
  /** Writes the note, and tells how to show it. */
  readonly say: (text: string) => Promise<(changes: object) => Promise<Entity>>
  /** After the commands of a text that says nothing else. */
  readonly silent?: () => Promise<void>
}

export function targetOf({ actor, request, opened, head }: Omit<Speech, 'body'>): CommandTarget {
  const { kind, id, sha } = opened.target
  return { kind, id, ...(sha !== undefined && { sha }), place: opened.place, actor, request, head }
}

/**
 * Says what a text says, then does what it commands. One of commands alone makes no note: 202 where one of them had an
 * effect, else 400.
 */
export async function speak<Entity>(
  room: NotesRoom,
  speech: Speech,
  { say, silent }: Saying<Entity>,
): Promise<Entity | Answer> {
  const { commands } = room
  const { text, commands: given } = commands.parse(speech.opened.target.kind, speech.body)
  if (text !== '') await checkSpam(room, speech, text)
  if (given.length === 0) return (await say(text))({})
  const run = (list: readonly Command[]): Promise<Outcome> => commands.run(targetOf(speech), list)
  if (text === '') {
    const { done, changes, summary, problem } = await run(given)
    if (done === 0) throw badRequest(problem ?? 'Failed to apply commands.')
    await silent?.()
    const body = JSON.stringify({ commands_changes: changes, summary })
    return new Answer(202, { 'content-type': 'application/json' }, body)
  }
  const show = await say(text)
  return show((await run(given)).changes)
}

async function checkSpam(
  { db, spam }: NotesRoom,
  { actor, request, opened, internal, before }: Speech,
  text: string,
): Promise<void> {
  if (!spam.isOn || internal === true || !(await isPublic(db.reader, opened))) return
  const refusal = (reason: string) => noteFault({ base: [reason] })
  const { place } = opened
  await spam.check({ kind: 'comment', title: null, text, actor, place, before, request, refusal })
}

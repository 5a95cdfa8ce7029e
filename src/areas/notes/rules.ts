import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { badRequest, forbidden, invalidParameters, type ApiError } from '../../kernel/errors/index.ts'
import { isLonger } from '../../kernel/lib/characters.ts'
import type { Found, Noteable, Place } from './noteables/noteable.ts'

export const mostNotes = 5000
export const longestBody = 1_000_000

/** A rule of notes that is broken, in the words that clients compare: `Note {:note=>["can't be blank"]}`. */
export function noteFault(faults: Readonly<Record<string, readonly string[]>>): ApiError {
  const fields = Object.entries(faults).map(
    ([field, texts]) => `:${field}=>[${texts.map((text) => `"${text}"`).join(', ')}]`,
  )
  return badRequest(`Note {${fields.join(', ')}}`)
}

export function checkBody(body: string): void {
  if (body.trim() === '') throw noteFault({ note: ["can't be blank"] })
  if (isLonger(body, longestBody))
    throw noteFault({ note: [`is too long (maximum is ${longestBody} characters)`] })
}

export const tooManyNotes = (): ApiError => noteFault({ base: ['Maximum number of comments exceeded'] })
export const vanished = (): ApiError => noteFault({ base: ['Discussion to reply to cannot be found'] })
export const notResolvable = (): ApiError => badRequest('Note is not resolvable')

type NoteAbility =
  | 'create_note'
  | 'create_internal_note'
  | 'admin_note'
  | 'resolve_note'
  | 'write_locked_discussion'
  | 'set_note_time'

/** The abilities of notes have the same names in projects and groups. */
export function mayIn(actor: Actor, ability: NoteAbility, place: Place): boolean {
  return may(actor, ability, place as ProjectSubject)
}

/** Writing anything at all about a noteable that the caller reads. */
export function isWriter(actor: Actor, place: Place, { locked }: Pick<Found, 'locked'>): boolean {
  return mayIn(actor, 'create_note', place) && (!locked || mayIn(actor, 'write_locked_discussion', place))
}

export function checkWriter(actor: Actor, place: Place, found: Pick<Found, 'locked'>): void {
  if (!isWriter(actor, place, found)) throw forbidden()
}

/** What tells who may change or delete a note. */
export interface Written {
  readonly system: boolean
  readonly author: { readonly id: number } | null
}

/** Changing or deleting a note: its author may, and who looks after the place; nobody those of the service. */
export function isEditor(actor: Actor, place: Place, { system, author }: Written): boolean {
  const wrote = actor.user !== null && author?.id === actor.user.id
  return !system && (wrote || mayIn(actor, 'admin_note', place))
}

export function checkEditor(actor: Actor, place: Place, note: Written): void {
  if (!isEditor(actor, place, note)) throw forbidden()
}

/** Resolving: who wrote the noteable, or the note alone that it is about, and whom the place lets. */
export function isResolver(actor: Actor, place: Place, ...authors: (number | null | undefined)[]): boolean {
  const id = actor.user?.id
  return (id !== undefined && authors.includes(id)) || mayIn(actor, 'resolve_note', place)
}

/** Whether the new note is internal; refused where it cannot be, or the caller may not. */
export function internalOf(
  noteable: Noteable,
  actor: Actor,
  place: Place,
  { internal, confidential }: { internal?: boolean | undefined; confidential?: boolean | undefined },
): boolean {
  if (!(internal ?? confidential ?? false)) return false
  if (!noteable.internal) throw noteFault({ confidential: ['can not be set for this resource'] })
  if (!mayIn(actor, 'create_internal_note', place)) throw forbidden()
  return true
}

/** When the note was written, for those who may say so; others' word is left out of account. */
export function timeOf(actor: Actor, place: Place, given: Date | undefined): Date | undefined {
  if (given === undefined || !mayIn(actor, 'set_note_time', place)) return undefined
  if (given.getTime() <= 0) throw invalidParameters(['created_at is invalid'])
  return given
}

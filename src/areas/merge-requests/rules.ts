import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { invalid } from '../../kernel/errors/index.ts'

const longestTitle = 255
const longestDescription = 1_048_576

/** Refuses what a request may not be called or say. */
export function checkTexts({
  title,
  description,
}: {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
}): void {
  const faults: Record<string, string[]> = {}
  if (title !== undefined && title.trim() === '') faults['title'] = ["can't be blank"]
  if (title !== undefined && Array.from(title).length > longestTitle) {
    faults['title'] = [`is too long (maximum is ${longestTitle} characters)`]
  }
  if ((description ?? '').length > longestDescription) {
    faults['description'] = [`is too long (maximum is ${longestDescription} characters)`]
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

const draftMark = /^\s*(?:\[draft\]|\(draft\)|draft:)\s*/i

export function isDraft(title: string): boolean {
  return draftMark.test(title)
}

/** The title of a draft, or of what is ready. */
export function titleAs(title: string, draft: boolean): string {
  if (draft) return isDraft(title) ? title : `Draft: ${title}`
  let ready = title
  while (draftMark.test(ready)) ready = ready.replace(draftMark, '')
  return ready
}

/** As many people may be asked for one thing. */
export const mostPeople = 200

export function checkPeople(name: 'assignees' | 'reviewers', userIds: readonly number[]): void {
  if (userIds.length <= mostPeople) return
  throw invalid({ [name]: [`total must be less than or equal to ${mostPeople}`] })
}

/** Who writes code, who made it, and those it is given to. */
export function mayUpdateRequest(
  actor: Actor,
  project: ProjectSubject,
  {
    author_id,
    assignees,
  }: { readonly author_id: number | null; readonly assignees: readonly { readonly id: number }[] },
): boolean {
  const id = actor.user?.id
  const theirs = id !== undefined && (author_id === id || assignees.some((one) => one.id === id))
  return (
    (theirs && may(actor, 'touch_own_merge_request', project)) || may(actor, 'update_merge_request', project)
  )
}

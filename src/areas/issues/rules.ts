import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { conflict, invalid, notFound, refused } from '../../kernel/errors/index.ts'
import { isLonger } from '../../kernel/lib/characters.ts'

const longestTitle = 255
export const longestDescription = 1_048_576
export const mostAssignees = 200

/** Refuses the texts of an issue or epic that break a rule, all faults at once. */
export function checkTexts(texts: {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
}): void {
  const faults: Record<string, string[]> = {}
  if (texts.title !== undefined && isLonger(texts.title, longestTitle)) {
    faults['title'] = [`is too long (maximum is ${longestTitle} characters)`]
  }
  if (isLonger(texts.description ?? '', longestDescription)) {
    faults['description'] = [`is too long (maximum is ${longestDescription} characters)`]
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

export function checkAssignees(ids: readonly number[]): void {
  if (ids.length > mostAssignees) {
    throw invalid({ assignees: [`total must be less than or equal to ${mostAssignees}`] })
  }
}

export const iidTaken = (): Error => conflict('Duplicated issue')

export const missing = (): Error => notFound('Issue')

export const cannotMove = (): Error => refused(400, 'Cannot move issue due to insufficient permissions!')

/** Who wrote an issue or is assigned to it changes it, and who may change any. */
export function mayChangeIssue(
  actor: Actor,
  project: ProjectSubject,
  issue: {
    readonly author: { readonly id: number } | null
    readonly assignees: readonly { readonly id: number }[]
  },
): boolean {
  const theirs = [issue.author, ...issue.assignees].some((one) => one !== null && one.id === actor.user?.id)
  return may(actor, theirs ? 'update_issue' : 'admin_issue', project)
}

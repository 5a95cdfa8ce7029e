import { tagName, type ProposedUpdate, type Refusal } from '../../git/index.ts'

/** Names that git lets pass and then takes for something else, or that no address leads to. */
const prohibited = /^(?:-|refs\/)/

/** Why a tag may not be called so, in the words that git clients show. */
export function tagNameProblem(name: string, defaultBranch: string | null): string | undefined {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(name)) {
    return 'You cannot create a tag with a SHA-1 or SHA-256 tag name.'
  }
  if (prohibited.test(name)) return 'You cannot create a tag with a prohibited pattern.'
  return name === defaultBranch ? 'You cannot use default branch name to create a tag' : undefined
}

/** The new tags among the updates that may not be called so. */
export function tagRefusals(updates: readonly ProposedUpdate[], defaultBranch: string | null): Refusal[] {
  return updates.flatMap(({ ref, isCreation }) => {
    const name = isCreation ? tagName(ref) : undefined
    const message = name === undefined ? undefined : tagNameProblem(name, defaultBranch)
    return message === undefined ? [] : [{ ref, message }]
  })
}

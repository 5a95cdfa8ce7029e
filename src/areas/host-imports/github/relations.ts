import type { RefName } from '../../../git/index.ts'
import { takeCode } from '../code.ts'
import type { ImportOptions, NewStep } from '../step-store.ts'
import type { Taker } from '../takers.ts'
import { takeWiki } from '../wiki.ts'
import { takeComments, takeReviewComments, takeReviews } from './comments.ts'
import { gitPlaceOf } from './host.ts'
import { takeIssues, takeLabels, takeMilestones } from './planning.ts'
import { takePullRequests } from './requests.ts'
import { takeCollaborators, takeProtectedBranches, takeReleases } from './rules.ts'
import { taking } from './work.ts'

function requestOf(ref: RefName): number | undefined {
  const [, number] = /^refs\/pull\/(\d{1,9})\/head$/.exec(ref) ?? []
  return number === undefined ? undefined : Number(number)
}

/** What there is to do, one stage after the other. */
export const githubTakers: Readonly<Record<string, Taker>> = {
  repository: taking((work) => takeCode(work, gitPlaceOf(work.room, work.step, ''), requestOf)),
  wiki: taking((work) => takeWiki(work, gitPlaceOf(work.room, work.step, '.wiki'))),
  labels: taking(takeLabels),
  milestones: taking(takeMilestones),
  issues: taking(takeIssues),
  pull_requests: taking(takePullRequests),
  notes: taking(takeComments),
  diff_notes: taking(takeReviewComments),
  reviews: taking(takeReviews),
  releases: taking(takeReleases),
  protected_branches: taking(takeProtectedBranches),
  collaborators: taking(takeCollaborators),
}

const stages = [
  ['repository', 'wiki'],
  ['labels', 'milestones', 'collaborators'],
  ['issues', 'pull_requests'],
  ['notes', 'diff_notes', 'reviews', 'releases', 'protected_branches'],
] as const

export function firstSteps(wiki: boolean, { stages: chosen = [] }: ImportOptions): Omit<NewStep, 'number'>[] {
  const left = new Set<string>([
    ...(wiki ? [] : ['wiki']),
    ...(chosen.includes('collaborators_import') ? [] : ['collaborators']),
  ])
  return stages.flatMap((relations, stage) =>
    relations.filter((relation) => !left.has(relation)).map((relation) => ({ stage, relation, cursor: '' })),
  )
}

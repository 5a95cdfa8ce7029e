import { branchRef } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { readFileAt, refsOf, readable, type ReadProject, type RepositoryPlaces } from '../repository/index.ts'
import { largestFile, parsePolicies } from './parse.ts'
import * as store from './store.ts'

/** Where a project of policies has them. */
export const policyPath = '.gitlab/security-policies/policy.yml'

interface Services {
  readonly db: Database
  readonly places: RepositoryPlaces
}

/** Stores what the file at the head of the default branch says, if others take their policies from this project. */
export async function syncPolicies({ db, places }: Services, projectId: number): Promise<void> {
  const project = await store.findSource(db.writer, projectId)
  if (project === undefined) return
  const file = { ...(await read(places, project)), refsVersion: project.refsVersion }
  await db.transaction((tx) => store.replacePolicies(tx, projectId, file))
}

async function read(
  places: RepositoryPlaces,
  project: ReadProject,
): Promise<Omit<store.ReadFile, 'refsVersion'>> {
  const branch = project.defaultBranch === null ? undefined : branchRef(project.defaultBranch)
  const repository = await readable(places, project)
  const commit = branch === undefined ? undefined : (await refsOf(places, project))?.find(branch)?.oid
  if (repository === undefined || commit === undefined) {
    return { commit: null, policies: [], problem: 'The project has no code' }
  }
  const content = await readFileAt(repository, commit, policyPath, largestFile)
  if (content === 'too-large') return { commit, policies: [], problem: `${policyPath} is too large` }
  if (content === undefined) return { commit, policies: [], problem: `There is no ${policyPath}` }
  return { commit, ...parsePolicies(content.toString()) }
}

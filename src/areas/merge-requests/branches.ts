import type { ProjectSubject } from '../../access/index.ts'
import { branchRef, resolve, type Oid, type Repository } from '../../git/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { readable } from '../repository/index.ts'

/** The head of a branch; undefined where there is none of that name. */
export async function headOf(repository: Repository, branch: string): Promise<Oid | undefined> {
  const ref = branchRef(branch)
  return ref === undefined ? undefined : resolve(repository, ref)
}

export async function headIn(
  places: RepositoryPlaces,
  project: Pick<ProjectSubject, 'id' | 'storage' | 'defaultBranch' | 'repositoryEmpty' | 'refsVersion'>,
  branch: string,
): Promise<Oid | undefined> {
  const repository = await readable(places, project)
  return repository && headOf(repository, branch)
}

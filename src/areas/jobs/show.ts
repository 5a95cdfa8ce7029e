import { enqueue } from '../../tasks/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { ciSettings, isArchived, taskNames } from '../pipelines/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Commits } from './commits.ts'
import { job, type JobRow } from './entities.ts'

/** A project as far as its jobs are shown. */
export interface ShownProject {
  readonly id: number
  readonly storage: string
  readonly fullPath: string
  readonly settings: Readonly<Record<string, unknown>>
}

/** Turns rows of jobs of one project into what is answered, with their commits. */
export class JobView {
  readonly #places: RepositoryPlaces
  readonly #commits: Commits
  readonly #externalUrl: () => string
  readonly #settings: Pick<Settings, 'values'>

  constructor(services: {
    places: RepositoryPlaces
    commits: Commits
    externalUrl: () => string
    settings: Pick<Settings, 'values'>
  }) {
    this.#settings = services.settings
    this.#places = services.places
    this.#commits = services.commits
    this.#externalUrl = services.externalUrl
  }

  async all(rows: readonly JobRow[], project: ShownProject): Promise<Record<string, unknown>[]> {
    const shas = rows.map(({ pipeline }) => pipeline.sha)
    const commits = rows.length === 0 ? new Map() : await this.#commits.find(this.#places.of(project), shas)
    const { values } = this.#settings
    const surroundings = {
      project,
      limitsTokens: ciSettings(project).limitsJobTokens,
      externalUrl: this.#externalUrl(),
      commits,
      now: new Date(),
      isArchived: (pipeline: { readonly created_at: string }) => isArchived(pipeline, values),
    }
    return rows.map((row) => job(row, surroundings))
  }

  async one(row: JobRow, project: ShownProject): Promise<Record<string, unknown>> {
    return (await this.all([row], project))[0]!
  }
}

/** Leaves the removal of content to a task. `jobs`: whose logs go too. */
export async function removeFilesLater(
  tx: Tx,
  files: { digests?: readonly string[]; jobs?: readonly number[] },
): Promise<void> {
  if ((files.digests?.length ?? 0) + (files.jobs?.length ?? 0) > 0) {
    await enqueue(tx, taskNames.removeFiles, files)
  }
}

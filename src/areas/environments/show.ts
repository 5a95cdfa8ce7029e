import type { JobView, ShownProject } from '../jobs/index.ts'
import { deployment, type DeploymentRow } from './entities.ts'

/** Deployments of one project as they are answered, with their jobs. */
export class ShownDeployments {
  readonly #view: JobView
  readonly #externalUrl: () => string

  constructor({ view, externalUrl }: { view: JobView; externalUrl: () => string }) {
    this.#view = view
    this.#externalUrl = externalUrl
  }

  async all(rows: readonly DeploymentRow[], project: ShownProject): Promise<Record<string, unknown>[]> {
    const jobs = rows.flatMap(({ deployable }) => (deployable === null ? [] : [deployable]))
    const shown = new Map((await this.#view.all(jobs, project)).map((job) => [job['id'], job]))
    return rows.map((row) =>
      deployment(
        row,
        row.deployable === null ? null : (shown.get(row.deployable.id) ?? null),
        this.#externalUrl(),
      ),
    )
  }

  async one(row: DeploymentRow, project: ShownProject): Promise<Record<string, unknown>> {
    return (await this.all([row], project))[0]!
  }
}

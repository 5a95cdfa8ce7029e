import type { Plan } from '../../kernel/config/index.ts'
import type { JobView, ShownProject } from '../jobs/index.ts'
import { protects } from './deployments.ts'
import { approvalsOf, deployment, type DeploymentDetailRow, type DeploymentRow } from './entities.ts'

/** Deployments of one project as they are answered, with their jobs. */
export class ShownDeployments {
  readonly #view: JobView
  readonly #externalUrl: () => string

  readonly #approvals: boolean

  constructor({ view, plan, externalUrl }: { view: JobView; plan: Plan; externalUrl: () => string }) {
    this.#approvals = protects(plan)
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

  /** With its approvals, where the plan has them. */
  async detail(row: DeploymentDetailRow, project: ShownProject): Promise<Record<string, unknown>> {
    return {
      ...(await this.one(row, project)),
      ...(this.#approvals && approvalsOf(row, this.#externalUrl())),
    }
  }

  async one(row: DeploymentRow, project: ShownProject): Promise<Record<string, unknown>> {
    return (await this.all([row], project))[0]!
  }
}

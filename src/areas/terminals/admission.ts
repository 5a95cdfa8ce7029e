import type { IncomingHttpHeaders } from 'node:http'
import {
  checkScopes,
  checkToken,
  enter,
  entryProblem,
  isDisabledToken,
  isShownTo,
  may,
  noteTokenUse,
  pageCredentials,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { forbidden, notFound, unauthorized } from '../../kernel/errors/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { runRef, type RefProtection } from '../pipelines/index.ts'

export interface AdmissionServices {
  readonly db: Database
  readonly log: Logger
  readonly plan: Plan
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly refProtection: RefProtection
}

/** Who asks for which terminal; asked again for as long as it is open. */
export interface TerminalRequest {
  readonly fullPath: string
  readonly jobId: number
  readonly headers: IncomingHttpHeaders
  /** Address of the caller. */
  readonly ip: string
}

export interface TerminalJob {
  readonly id: number
  readonly status: string
  readonly user_id: number | null
  readonly run_ref: string
  readonly tag: boolean
}

interface Row extends TerminalJob {
  readonly secret: string | null
}

export interface Admitted {
  readonly username: string
  readonly status: string
  /** The session with the runner, sealed; null: there is none, or none any more. */
  readonly secret: string | null
}

/** The job whose terminal it is, with what leads there. Throws the refusal. */
export async function admit(services: AdmissionServices, request: TerminalRequest): Promise<Admitted> {
  const { db, log, plan, settings, externalUrl } = services
  const { values } = settings
  const credentials = pageCredentials(request.headers, values)
  if (credentials.kind === 'none') throw unauthorized()
  const { actor, token, subject, visible, loaded } = await enter<ProjectSubject, Row>(
    db,
    projectKind,
    credentials,
    { id: request.fullPath, secretDigest: undefined },
    terminalJob(request.jobId),
  )
  if (actor?.user == null) throw unauthorized()
  if (token !== undefined) {
    if (isDisabledToken(actor, values)) throw unauthorized()
    checkToken(token)
    noteTokenUse({ db, log }, token)
  }
  const problem = entryProblem(actor.user, { values, externalUrl: externalUrl() })
  if (problem !== undefined) throw forbidden(problem)
  if (actor.token !== null) checkScopes(actor.token.scopes, ['api'])
  if (subject === undefined || !visible || !isShownTo(subject, actor, request.ip, { values, plan })) {
    throw notFound('Project')
  }
  const [job] = loaded.rows
  if (job === undefined) throw notFound()
  if (!(await mayUseTerminal(services, db.reader, actor, subject, job))) throw forbidden()
  return { username: actor.user.username, status: job.status, secret: job.secret }
}

/** Jobs are entered by whoever started them, and nobody else, whatever his role: they act in his name. */
export async function mayUseTerminal(
  { refProtection }: Pick<AdmissionServices, 'refProtection'>,
  db: Reader,
  actor: Actor,
  project: ProjectSubject,
  { user_id, run_ref: name, tag }: TerminalJob,
): Promise<boolean> {
  if (actor.user === null || actor.user.id !== user_id) return false
  if (!may(actor, 'create_build_terminal', project)) return false
  return refProtection.mayRun(db, actor, project, { name, tag })
}

function terminalJob(id: number): Read<Row> {
  return rows(sql`
    select j.id, j.status, j.user_id, j.tag, ${runRef} as run_ref, s.secret
    from ci_jobs j join ci_pipelines p on p.id = j.pipeline_id left join ci_job_sessions s on s.job_id = j.id
    where j.id = ${id} and j.project_id = subject.id and j.kind = 'build'`)
}

import {
  accountProblem,
  enterAs,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { holdContent, removeUnused, type Blobs } from '../../blobs/index.ts'
import { sitePrefix } from '../../ci/index.ts'
import { parseOid } from '../../git/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import { parseDuration } from '../../kernel/lib/duration.ts'
import { report, type StatusServices } from '../commit-statuses/index.ts'
import type { SiteServices } from './index.ts'
import * as store from './deployments-store.ts'
import { packSite } from './pack.ts'
import { DeployProblem } from './problem.ts'

export interface DeployServices extends SiteServices, StatusServices {
  /** Of the sites. */
  readonly content: Blobs
}

const day = 24 * 3600
const mebibyte = 1024 * 1024

/** Publishes what a job has left, and tells so beside its pipeline. May be done again: a job publishes once. */
export async function deploy(services: DeployServices, job: store.PublishingJob): Promise<void> {
  if (job.user_id === null) return
  const entered = await enterAs<ProjectSubject>(services.db, projectKind, job.user_id, job.project_id)
  if (entered === undefined) return
  const { actor, subject: project } = entered
  if (services.sites.host === undefined) {
    await tell(services, job, entered, 'skipped', 'no sites are served here: PAGES_URL is not set')
    return
  }
  try {
    const outcome = await publish(services, job, actor, project)
    if (outcome !== 'gone') await tell(services, job, entered, 'success')
  } catch (error) {
    if (!(error instanceof DeployProblem)) throw error
    await tell(services, job, entered, 'failed', error.message)
  }
}

async function publish(
  services: DeployServices,
  job: store.PublishingJob,
  actor: Actor,
  project: ProjectSubject,
): Promise<store.Outcome> {
  const { db, blobs, content, settings, sites } = services
  if (actor.user === null || accountProblem(actor.user) !== undefined || !may(actor, 'deploy_site', project))
    throw new DeployProblem('who started the job may not publish the site')
  if (job.digest === null) throw new DeployProblem('the job has no artifacts')
  const wanted = job.pages === true ? {} : job.pages
  const rootDirectory = folderOf(wanted.publish ?? 'public')
  const pathPrefix = prefixOf(wanted.pathPrefix ?? '')
  const most = settings.values.max_pages_size
  const packed = await packSite(
    content,
    blobs.path(job.digest),
    rootDirectory,
    most === 0 ? Infinity : most * mebibyte,
  )
  const made: store.NewDeployment = {
    projectId: project.id,
    pathPrefix,
    rootDirectory,
    jobId: job.id,
    pipelineId: job.pipeline_id,
    expiresAt: expiryOf(wanted.expireIn, pathPrefix),
    packed,
  }
  let outcome: store.Outcome | undefined
  try {
    outcome = await db.transaction(async (tx) => {
      await holdContent(tx, content, 'site_deployments', packed.digest)
      return store.publish(tx, made, sites.isUnique(project))
    })
  } finally {
    if (outcome !== 'published') await removeUnused(db, content, 'site_deployments', [packed.digest])
  }
  if (outcome === 'outdated') throw new DeployProblem('a later pipeline has published already')
  if (outcome === 'full')
    throw new DeployProblem(`there are ${store.mostPrefixes} deployments beside the site already`)
  return outcome
}

/** As the paths of an archive begin. */
function folderOf(written: string): string {
  const parts = written.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.length === 0 || parts.includes('..'))
    throw new DeployProblem(`${written} is no folder to publish`)
  return parts.join('/')
}

/** A part of an address: `Feature/X` stands below `feature-x`. */
function prefixOf(written: string): string {
  const slug = sitePrefix(written)
  if (slug === '' && written !== '') throw new DeployProblem(`${written} is no part of an address`)
  return slug
}

/** Without a word of it the site itself stays, and others go after a day. */
function expiryOf(written: string | undefined, pathPrefix: string): Date | null {
  if (written === 'never' || (written === undefined && pathPrefix === '')) return null
  const seconds = written === undefined ? day : parseDuration(written)
  if (seconds === null) throw new DeployProblem(`${written} is no time after which a site goes`)
  return new Date(Date.now() + seconds * 1000)
}

/** As the status of a commit, which people see beside the pipeline; where that is not taken, nothing depends on it. */
async function tell(
  services: DeployServices,
  job: store.PublishingJob,
  { actor, subject: project }: { readonly actor: Actor; readonly subject: ProjectSubject },
  state: 'success' | 'failed' | 'skipped',
  description?: string,
): Promise<void> {
  const { log, places, sites } = services
  if (description !== undefined) log.info({ job: job.id, project: project.id }, `no site: ${description}`)
  const sha = parseOid(job.sha)
  if (sha === undefined) return
  try {
    await report(
      services,
      { actor, project, repository: places.of(project), sha },
      {
        state,
        name: 'pages:deploy',
        ref: job.ref,
        pipelineId: job.pipeline_id,
        targetUrl: state === 'success' ? sites.urlOf(project) : undefined,
        description: description?.slice(0, 255),
        coverage: undefined,
      },
    )
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    log.info({ job: job.id, err: error }, 'the deployment of a site could not be told')
  }
}

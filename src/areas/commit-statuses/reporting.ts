import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { branchName, branchRef, refsContaining, tagRef, type Oid, type Repository } from '../../git/index.ts'
import { forbidden, invalidParameters, notFound } from '../../kernel/errors/index.ts'
import {
  AlreadyCreated,
  danglingSources,
  insertPipeline,
  latestPipeline,
  type NewPipelineRow,
} from '../pipelines/index.ts'
import { refsOf } from '../repository/index.ts'
import type { StatusServices } from './index.ts'
import { requireTransition, requireWebAddress } from './rules.ts'
import * as store from './store.ts'

interface Place {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly repository: Repository
  readonly sha: Oid
}

/** What is reported: a name, which tells reports apart, and the pipeline or ref they are about, if somebody says so. */
export interface Reported extends store.Report {
  readonly name: string
  readonly ref: string | undefined
  readonly pipelineId: number | undefined
}

interface About {
  readonly ref: string
  readonly tag: boolean
  readonly protected: boolean
}

/** Takes a report in: the pipeline it joins is the one named, else the commit's last on the ref, else a new one. */
export async function report(services: StatusServices, place: Place, reported: Reported): Promise<number> {
  const { db, process } = services
  const { actor, project, sha } = place
  requireWebAddress(reported.targetUrl)
  const named =
    reported.pipelineId === undefined
      ? undefined
      : await store.pipelineOf(db.reader, project.id, sha, reported.pipelineId)
  if (reported.pipelineId !== undefined && named === undefined) throw notFound('Pipeline')
  const about = await aboutOf(services, place, reported.ref ?? named?.ref)
  const pipelineId = named?.id ?? (await pipelineFor(services, place, about))
  const done = await process.change(pipelineId, async (tx) => {
    const open = await store.findOpen(tx, pipelineId, reported.name)
    requireTransition(open?.status ?? 'created', reported.state)
    const at = { ...about, projectId: project.id, pipelineId, userId: userOf(actor).id, name: reported.name }
    if (open !== undefined) await store.update(tx, open.id, reported)
    const id = open?.id ?? (await store.insert(tx, at, reported))
    return { result: id, changed: [{ id, status: reported.state }] }
  })
  if (done === undefined) throw notFound('Pipeline')
  return done
}

/**
 * The ref of the report: the one said, else a branch that has the commit, else that of its newest pipeline: what merging
 * would make is on no branch. Protected ones ask for more.
 */
async function aboutOf(
  { db, places, refProtection }: StatusServices,
  { actor, project, repository, sha }: Place,
  said: string | undefined,
): Promise<About> {
  const [containing] = said === undefined ? await refsContaining(repository, sha, 'refs/heads/', 1) : []
  const ref =
    said ?? (containing && branchName(containing)) ?? (await store.newestRefOf(db.reader, project.id, sha))
  if (ref === undefined) throw notFound('References for commit')
  if (branchRef(ref) === undefined && tagRef(ref) === undefined) throw invalidParameters(['ref is invalid'])
  const refs = await refsOf(places, project)
  const has = (name: ReturnType<typeof branchRef>): boolean =>
    name !== undefined && refs?.find(name) !== undefined
  const tag = !has(branchRef(ref)) && has(tagRef(ref))
  const { isProtected, mayRun } = await refProtection.judge(db.reader, actor, project, { name: ref, tag })
  if (isProtected && !mayRun) throw forbidden()
  return { ref, tag, protected: isProtected }
}

async function pipelineFor(
  services: StatusServices,
  { actor, project, sha }: Place,
  { ref, tag, protected: isProtected }: About,
): Promise<number> {
  const { db, process } = services
  const latest = async () =>
    latestPipeline(db.reader, project.id, { name: ref, tag, sha }, [...danglingSources])
  const known = await latest()
  if (known !== undefined) return known.id
  const row: NewPipelineRow = {
    projectId: project.id,
    userId: userOf(actor).id,
    source: 'external',
    ref,
    tag,
    sha,
    beforeSha: '0'.repeat(40),
    protected: isProtected,
    name: null,
    yamlErrors: null,
    failureReason: null,
    // Two first reports at the same time make one pipeline.
    eventKey: `external:${project.id}:${sha}:${tag ? 'tag' : 'branch'}:${ref}`,
    triggerId: null,
    mergeRequest: null,
    sourceJobId: null,
    scheduleId: null,
    deploys: false,
    cancelOnNewCommit: 'none',
    cancelOnJobFailure: 'none',
    state: { status: 'created', hasWarnings: false, coverage: null, duration: null },
  }
  try {
    return await db.transaction(async (tx) => {
      const made = await insertPipeline(tx, row, [], [])
      await process.announceNew(tx, project, row, made)
      return made.id
    })
  } catch (error) {
    const faster = error instanceof AlreadyCreated ? await latest() : undefined
    if (faster === undefined) throw error
    return faster.id
  }
}

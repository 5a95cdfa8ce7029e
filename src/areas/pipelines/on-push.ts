import { enterAs, may, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import { branchName, findCommit, isZero, tagName, zeroOid, type RefUpdate } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
import type { PushEvent, RepositoryPlaces } from '../repository/index.ts'
import type { PipelineCreator } from './create-pipeline.ts'
import { hasPipelineFor } from './create-store.ts'
import { inputsOf, variablesOf } from './push-options.ts'

interface PushServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly settings: Settings
}

interface Wanted {
  readonly update: RefUpdate
  readonly eventKey: string
  readonly pushOptions: readonly string[]
}

/** Refs were moved: a pipeline of each, if its configuration wants one. Done twice it makes one pipeline each. */
export async function onPush(
  services: PushServices,
  creator: PipelineCreator,
  event: DomainEvent<PushEvent>,
): Promise<void> {
  const { projectId, userId, payload } = event
  if (payload.byJob || payload.imported) return
  const limit = services.settings.values.git_push_pipeline_limit
  const built = payload.updates
    .filter(({ newOid }) => !isZero(newOid))
    .slice(0, limit === 0 ? undefined : limit)
  if (built.length === 0 || projectId === null || userId === null) return
  const enter = () => enterAs<ProjectSubject>(services.db, projectKind, userId, projectId)
  const entered = await enter()
  if (entered === undefined || !may(entered.actor, 'create_pipeline', entered.subject)) return
  const failures: unknown[] = []
  for (const [place, update] of built.entries()) {
    // What is wrong with one is not the other's fault.
    const eventKey = `push:${event.id}:${place}`
    const about = { update, eventKey, pushOptions: payload.pushOptions }
    await createFor(services, creator, entered, about).catch((error: unknown) => failures.push(error))
  }
  // Deleted meanwhile, with all that was to be built: there is nothing left to do.
  if (failures.length > 0 && (await enter()) !== undefined) throw failures[0]
}

async function createFor(
  { db, places }: PushServices,
  creator: PipelineCreator,
  { actor, subject: project }: { readonly actor: Actor; readonly subject: ProjectSubject },
  { update, eventKey, pushOptions }: Wanted,
): Promise<void> {
  const { ref, oldOid, newOid } = update
  const branch = branchName(ref)
  const name = branch ?? tagName(ref)
  if (name === undefined) return
  // The object of an annotated tag comes to a commit.
  const commit = await findCommit(places.of(project), newOid)
  if (commit === undefined || (await hasPipelineFor(db.reader, eventKey))) return
  await creator.create({
    project,
    actor,
    source: 'push',
    ref: name,
    tag: branch === undefined,
    sha: commit.oid,
    beforeSha: branch === undefined ? zeroOid : oldOid,
    variables: variablesOf(pushOptions),
    inputs: inputsOf(pushOptions),
    eventKey,
    skip: pushOptions.includes('ci.skip'),
    honoursSkip: true,
    storesErrors: true,
  })
}

import { enterAs, may, project as projectKind, type ProjectSubject } from '../../access/index.ts'
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

/** Refs were moved: a pipeline of each, if its configuration wants one. Done twice it makes one pipeline each. */
export async function onPush(
  services: PushServices,
  creator: PipelineCreator,
  event: DomainEvent<PushEvent>,
): Promise<void> {
  const { updates, byJob } = event.payload
  const limit = services.settings.values.git_push_pipeline_limit
  const built = updates.filter(({ newOid }) => !isZero(newOid)).slice(0, limit === 0 ? undefined : limit)
  if (byJob) return
  const failures: unknown[] = []
  for (const [place, update] of built.entries()) {
    // What is wrong with one is not the other's fault.
    const eventKey = `push:${event.id}:${place}`
    await createFor(services, creator, event, { update, eventKey }).catch((error: unknown) =>
      failures.push(error),
    )
  }
  if (failures.length > 0) throw failures[0]
}

async function createFor(
  { db, places }: PushServices,
  creator: PipelineCreator,
  event: DomainEvent<PushEvent>,
  { update, eventKey }: { readonly update: RefUpdate; readonly eventKey: string },
): Promise<void> {
  const { pushOptions } = event.payload
  const { ref, oldOid, newOid } = update
  const branch = branchName(ref)
  const name = branch ?? tagName(ref)
  if (name === undefined || event.projectId === null || event.userId === null) return
  const entered = await enterAs<ProjectSubject>(db, projectKind, event.userId, event.projectId)
  if (entered === undefined || !may(entered.actor, 'create_pipeline', entered.subject)) return
  // The object of an annotated tag comes to a commit.
  const commit = await findCommit(places.of(entered.subject), newOid)
  if (commit === undefined || (await hasPipelineFor(db.reader, eventKey))) return

  const creation = creator.create({
    project: entered.subject,
    actor: entered.actor,
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
  try {
    await creation
  } catch (error) {
    // Deleted meanwhile, with all that was to be built: there is nothing left to do.
    if ((await enterAs<ProjectSubject>(db, projectKind, event.userId, event.projectId)) !== undefined)
      throw error
  }
}

import { sql } from 'kysely'
import { enterAs, may, project as projectKind, type ProjectSubject } from '../../access/index.ts'
import { branchName, findCommit, isZero, parseOid, parseRefName, tagName, zeroOid } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
import type { PushEvent, RepositoryPlaces } from '../repository/index.ts'
import type { PipelineCreator } from './create-pipeline.ts'
import { hasPipelineFor } from './create-store.ts'
import type { GivenVariable } from './pipeline-request.ts'

/** Refs of one push that get a pipeline. */
const refsPerPush = 4

/** A ref was moved: its pipeline, if its configuration wants one. Done twice it makes one pipeline. */
export async function onPush(
  { db, places }: { db: Database; places: RepositoryPlaces },
  creator: PipelineCreator,
  event: DomainEvent<PushEvent>,
): Promise<void> {
  const { ref: written, oldOid, newOid, refUpdateId, pushOptions } = event.payload
  const refName = parseRefName(written)
  const moved = parseOid(newOid)
  if (refName === undefined || moved === undefined || isZero(moved)) return
  const branch = branchName(refName)
  const name = branch ?? tagName(refName)
  if (name === undefined || event.projectId === null || event.userId === null) return

  const eventKey = `push:${event.id}`
  const push = await pushOf(db, refUpdateId)
  if (push.byJob || push.refs.indexOf(written) >= refsPerPush) return
  const entered = await enterAs<ProjectSubject>(db, projectKind, event.userId, event.projectId)
  if (entered === undefined || !may(entered.actor, 'create_pipeline', entered.subject)) return
  // The object of an annotated tag comes to a commit.
  const commit = await findCommit(places.of(entered.subject), moved)
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

/** The whole push that an event is a part of. */
async function pushOf(db: Database, refUpdateId: number): Promise<{ refs: string[]; byJob: boolean }> {
  const { rows } = await sql<{ updates: { ref: string; newOid: string }[]; by_job: string | null }>`
    select u.updates, u.push ->> 'by_job' as by_job from ref_updates u where u.id = ${refUpdateId}`.execute(
    db.reader,
  )
  const row = rows[0]
  const kept = row?.updates.filter(({ newOid }) => newOid !== zeroOid) ?? []
  return { refs: kept.map(({ ref }) => ref), byJob: (row?.by_job ?? null) !== null }
}

/** `ci.variable="K=V"`, with or without the quotes that reach us. */
function variablesOf(pushOptions: readonly string[]): GivenVariable[] {
  const found = new Map<string, GivenVariable>()
  for (const option of pushOptions) {
    const match = /^ci\.variable="?(\w+)=(.*?)"?$/s.exec(option)
    if (match !== null) found.set(match[1]!, { key: match[1]!, value: match[2]!, variable_type: 'env_var' })
  }
  return [...found.values()]
}

/** `ci.input=k=v`; a value that is JSON is taken as what it says, such as a number or a list. */
function inputsOf(pushOptions: readonly string[]): Record<string, unknown> {
  const given = pushOptions.flatMap((option) => {
    const match = /^ci\.input=([^=]+)=(.*)$/s.exec(option)
    return match === null ? [] : [[match[1]!, valueOf(match[2]!)] as const]
  })
  return Object.fromEntries(given)
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

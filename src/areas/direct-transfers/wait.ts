import { branchRef } from '../../git/index.ts'
import { visibilityName, userOf } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { checkGroup, describeGroup, formatVersion as groupFormat } from '../group-archives/index.ts'
import { createGroup } from '../groups/index.ts'
import {
  allowedVisibility,
  checkProject,
  describeProject,
  openFolder,
  RecordFault,
} from '../project-archives/index.ts'
import { createProject } from '../projects/index.ts'
import { members, projectFormat, self, type Kind } from '../relation-exports/index.ts'
import { addEntities, type NewEntity } from './import-store.ts'
import { fetchRecords, readSingle } from './fetch.ts'
import { TransferFault } from './faults.ts'
import { epicParents, stageOf } from './relations.ts'
import type { TransferRoom } from './services.ts'
import { isRecord, type Source } from './source.ts'
import { importerOf } from './standing.ts'
import * as store from './step-store.ts'
import type { Failure, NewStep, Step } from './step-store.ts'

/** Seconds that the source has to write its files, and the longest between two questions. */
const patience = 24 * 3600
const longestPause = 30
/** Files of a relation. */
const mostFiles = 100_000

/**
 * Waits until the source has written its files. Then the group or project is made here, and in the same transaction all
 * there is to be done for it: a crash leaves either or none.
 */
export async function waitForExport(
  room: TransferRoom,
  step: Step,
  source: Source,
  signal: AbortSignal,
): Promise<void> {
  const { db } = room
  const told = (await source.exportStatus(step.kind, step.sourceId!)).map((each) => relationOf(each))
  const own = told.find(({ relation }) => relation === self)
  if (own === undefined) throw new TransferFault('The source does not write what can be read here.')
  if (told.some(({ status }) => status === 0)) {
    if (step.age < patience) {
      const pause = Math.min(longestPause, Math.max(0.1, step.age / 4))
      await store.postpone(db.writer, step, pause, { anew: true })
      return
    }
    const fault = new TransferFault('The source did not write its files in time.', { fatal: true })
    await db.transaction((tx) => store.giveUp(tx, step, fault, 'timeout'))
    return
  }
  if (own.status !== 1) throw new TransferFault(`The source could not write it: ${own.error}`)
  await using folder = await openFolder(room.workplace)
  const file = await fetchRecords(room, step, source, { relation: self, number: 1 }, folder.path)
  const record = await readSingle(file)
  const format = isRecord(record) ? record['format'] : undefined
  if (format !== (step.kind === 'project' ? projectFormat : groupFormat)) {
    throw new TransferFault('The source writes a format that is not known.', { phase: 'transformer' })
  }
  const below = step.kind === 'group' ? await entitiesBelow(step, source) : []
  signal.throwIfAborted()
  await make(room, step, record, async (tx, id, fullPath) => {
    await store.setDestination(
      tx,
      step.entityId,
      step.kind === 'group' ? { namespaceId: id } : { projectId: id },
    )
    await store.addSteps(tx, step.entityId, stepsOf(step, told))
    await store.addFailures(tx, step, failuresOf(told))
    await addEntities(
      tx,
      step,
      below.map((entity) => ({ ...entity, destination_namespace: fullPath })),
    )
    await store.finish(tx, step)
  })
}

interface Told {
  readonly relation: string
  readonly status: number
  readonly error: string
  /** Records of each of its files. */
  readonly files: readonly number[]
}

/** What the source says of a relation, as far as it can be believed. */
function relationOf(value: unknown): Told {
  const raw = isRecord(value) ? value : {}
  const { relation, status, error } = raw
  const batches = Array.isArray(raw['batches']) ? (raw['batches'] as unknown[]) : []
  return {
    relation: typeof relation === 'string' ? relation.slice(0, 100) : '',
    status: status === 1 || status === -1 ? status : 0,
    error: typeof error === 'string' ? error.slice(0, 300).replaceAll('\0', '') : 'it does not say why',
    files: batches.slice(0, mostFiles).map((batch) => {
      const count = isRecord(batch) ? batch['objects_count'] : undefined
      return typeof count === 'number' && Number.isInteger(count) && count >= 0
        ? Math.min(count, 2 ** 31 - 1)
        : 0
    }),
  }
}

function stepsOf({ kind, migrateMemberships }: Step, told: readonly Told[]): NewStep[] {
  const seen = new Set<string>()
  return told.flatMap(({ relation, status, files }) => {
    const stage = stageOf(kind, relation)
    if (stage === undefined || status !== 1 || seen.has(relation)) return []
    seen.add(relation)
    if (relation === members[kind] && !migrateMemberships) return []
    return files.flatMap((objects, index) => {
      const number = index + 1
      // Files of protected branches one after the other: the first does away with what a push has made.
      const step = {
        ...{ relation, number, objects },
        stage: relation === 'protected_branches' ? stage + index : stage,
      }
      return relation === 'epics'
        ? [step, { relation: epicParents, number, objects: 0, stage: stage + 1 }]
        : [step]
    })
  })
}

function failuresOf(told: readonly Told[]): Failure[] {
  return told
    .filter(({ status }) => status === -1)
    .slice(0, 100)
    .map(({ relation, error }) => ({
      relation,
      step: 'extractor',
      exception_class: 'TransferFault',
      exception_message: `The source could not write it: ${error}`,
    }))
}

type Below = Omit<NewEntity, 'destination_namespace'>

async function entitiesBelow(
  { sourceId, migrateProjects, migrateMemberships }: Step,
  source: Source,
): Promise<Below[]> {
  const found: Below[] = []
  const kinds: (readonly [Kind, 'subgroups' | 'projects'])[] = [['group', 'subgroups']]
  if (migrateProjects) kinds.push(['project', 'projects'])
  for (const [kind, what] of kinds) {
    for (const { full_path: path } of await source.below(sourceId!, what)) {
      found.push({
        kind,
        source_full_path: path,
        destination_slug: path.split('/').at(-1)!,
        migrate_projects: migrateProjects,
        migrate_memberships: migrateMemberships,
      })
    }
  }
  return found
}

type Then = (tx: Tx, id: number, fullPath: string) => Promise<void>

/** The group or project as the source describes it, where it is to be; what is beside it comes in the same transaction. */
async function make(room: TransferRoom, step: Step, record: unknown, then: Then): Promise<void> {
  const { db, settings, places } = room
  const actor = await importerOf(room, step)
  const home = await store.findHome(db.writer, step)
  if (
    home === undefined &&
    (step.parentId !== null || step.destinationNamespace !== '' || step.kind === 'project')
  ) {
    throw new TransferFault('There is no such group to bring it to.', { phase: 'loader' })
  }
  const path = step.destinationSlug
  const fullPath = step.destinationNamespace === '' ? path : `${step.destinationNamespace}/${path}`
  const place = { path, visibility: visibilityName(0) }
  const context = { db, settings: settings.values, places }
  if (step.kind === 'group') {
    const { name, description, visibility } = usable(() => checkGroup(record))
    const level = allowedVisibility(room, actor, { visibility })
    await createGroup(context, actor, { ...place, name, description, parent_id: home }, async (tx, id) => {
      await describeGroup(tx, id, { description, visibility: level })
      await then(tx, id, fullPath)
    })
    return
  }
  const project = usable(() => checkProject(record))
  const branch = project.default_branch
  const wanted = {
    ...place,
    name: project.name,
    namespace_id: home,
    ...(branch !== null && branchRef(branch) !== undefined && { default_branch: branch }),
  }
  await createProject(context, { actor, user: userOf(actor) }, wanted, async (tx, id) => {
    await describeProject(tx, id, { ...project, visibility: allowedVisibility(room, actor, project) })
    await then(tx, id, fullPath)
  })
}

function usable<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error
    throw new TransferFault(`What the source says of it is not usable: ${error.message}`, {
      phase: 'transformer',
    })
  }
}

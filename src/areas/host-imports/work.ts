import path from 'node:path'
import type { Actor, ProjectSubject } from '../../access/index.ts'
import { listRefs } from '../../git/index.ts'
import { RecordFault, standIn } from '../project-archives/index.ts'
import type { HostClient } from './client.ts'
import { HostFault } from './faults.ts'
import type { HostImportRoom } from './services.ts'
import type { Failure, Step } from './step-store.ts'

/** A step that is being done, in the name of who asked for it. */
export interface Work {
  readonly room: HostImportRoom
  readonly step: Step
  readonly signal: AbortSignal
  readonly client: HostClient
  readonly actor: Actor
  readonly project: ProjectSubject
}

/** Who asked for the import, and the project, as they are now. */
export async function standingOf(
  { db }: Pick<HostImportRoom, 'db'>,
  { userId, projectId }: Step,
): Promise<{ readonly actor: Actor; readonly subject: ProjectSubject }> {
  const standing = projectId === null ? undefined : await standIn(db, userId, projectId)
  if (standing !== undefined) return standing
  throw new HostFault('Who asked for the import may not make it any more.', { fatal: true })
}

/** Reads each of these things; what is not usable is told, and the others are taken. `undefined`: not wanted. */
export function readEach<T>(
  relation: string,
  entries: readonly unknown[],
  read: (entry: unknown) => T | undefined,
): { readonly records: T[]; readonly failures: Failure[] } {
  const records: T[] = []
  const failures: Failure[] = []
  for (const entry of entries) {
    try {
      const record = read(entry)
      if (record !== undefined) records.push(record)
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error
      failures.push(failureOf(relation, error, placeOf(entry)))
    }
  }
  return { records, failures }
}

export function failureOf(relation: string, error: Error, source: string): Failure {
  return {
    relation_name: relation,
    exception_class: error.name === 'Error' ? 'RecordFault' : error.name,
    exception_message: error.message.slice(0, 300),
    source,
  }
}

/** What a thing is known by on the host, as far as it tells. */
function placeOf(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return ''
  const { html_url: url, number, id, name } = entry as Readonly<Record<string, unknown>>
  const found = [url, number, id, name].find((one) => typeof one === 'string' || typeof one === 'number')
  return String(found ?? '').slice(0, 200)
}

/** Whether the repository of the project has branches or tags. */
export async function hasCode({ room, project }: Pick<Work, 'room' | 'project'>): Promise<boolean> {
  return (await listRefs(room.places.of(project), project.refsVersion)).refs.length > 0
}

export const workplaceOf = (dataDirectory: string): string => path.join(dataDirectory, 'host-imports')

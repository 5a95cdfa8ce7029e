import type { LabelRecord, MilestoneRecord } from '../project-archives/index.ts'

/*
 * An archive is a gzipped tar with these files:
 *   VERSION            the version of this format
 *   tree/<name>.ndjson one record a line; of what is in a subgroup, `group` is its path below the group itself
 */

export const formatVersion = 'group 1.0'

export const relations = ['groups', 'labels', 'milestones', 'epics'] as const
export type RelationName = (typeof relations)[number]

export const fileOf = (relation: RelationName): string => `tree/${relation}.ndjson`
export const knownFiles: ReadonlySet<string> = new Set(['VERSION', ...relations.map(fileOf)])

/** The group itself has the path '' and comes first; parents come before what is below them. */
export interface GroupRecord {
  readonly path: string
  readonly name: string
  readonly description: string
  readonly visibility: number
}

interface Placed {
  readonly group: string
}

export interface EpicRecord extends Placed {
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly confidential: boolean
  readonly color: string
  readonly start_date: string | null
  readonly due_date: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly closed_at: string | null
  readonly author: string | null
  /** Number of the epic above it, of the same group. */
  readonly parent: number | null
  /** Titles of labels of the same group. */
  readonly labels: readonly string[]
}

export interface Records {
  readonly groups: GroupRecord
  readonly labels: LabelRecord & Placed
  readonly milestones: MilestoneRecord & Placed
  readonly epics: EpicRecord
}

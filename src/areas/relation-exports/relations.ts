import { idsBehind as groupIdsBehind, relations as groupRecords } from '../group-archives/index.ts'
import {
  formatVersion,
  idsBehind as projectIdsBehind,
  relations as projectRecords,
  type BundleName,
  fileRelations,
  type FileRelation,
} from '../project-archives/index.ts'

export type Kind = 'project' | 'group'

/** The place itself, in one record; it tells the version of the format. */
export const self = 'self'
export const projectFormat = `project ${formatVersion}`
/** Direct members. */
export const members = { project: 'project_members', group: 'members' } as const

/** What is written as one file of records, gzipped, a line each; with `batched` in several. */
const records: Readonly<Record<Kind, readonly string[]>> = {
  project: projectRecords,
  group: groupRecords.filter((name) => name !== 'groups'),
}

/** What is written as a gzipped tar with a bundle of git. */
export const trees = {
  repository: 'project',
  kept_commits: 'kept',
  wiki: 'wiki',
} as const satisfies Record<string, BundleName>
export type TreeName = keyof typeof trees

/** All relations, in the order in which they are written. */
export const relations: Readonly<Record<Kind, readonly string[]>> = {
  project: [self, members.project, ...records.project, ...Object.keys(trees), ...fileRelations],
  group: [self, members.group, ...records.group],
}

export const isFiles = (relation: string): relation is FileRelation =>
  fileRelations.includes(relation as FileRelation)
export const isTree = (relation: string): relation is TreeName => Object.hasOwn(trees, relation)
export const isRecords = (kind: Kind, relation: string): boolean => records[kind].includes(relation)

/** What its file is called, wherever it is downloaded to. */
export const fileName = (relation: string): string =>
  `${relation}.${isTree(relation) || isFiles(relation) ? 'tar.gz' : 'ndjson.gz'}`

/** Records of a file. */
export const batchSize = 1000

/** Ids of the next records: one more than go into a file, if there are so many. */
export const idsBehind = { project: projectIdsBehind, group: groupIdsBehind } as const

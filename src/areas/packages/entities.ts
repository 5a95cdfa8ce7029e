import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { Fields, Id, Int, ListOf, Nullable, Optional, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { PipelineSummary, pipelineSummary, type PipelineSummaryRow } from '../pipelines/index.ts'

const pipelines = {
  pipeline: Optional(PipelineSummary),
  pipelines: ListOf(PipelineSummary),
}

export const Package = Fields({
  id: Id(),
  name: Text(),
  version: Nullable(Text()),
  package_type: Text(),
  status: Text(),
  _links: Fields({ web_path: Text(), delete_api_path: Optional(Text()) }),
  created_at: Timestamp(),
  last_downloaded_at: Nullable(Timestamp()),
  tags: ListOf(Text()),
  ...pipelines,
})

export const PackageWithVersions = Fields({
  ...Package.properties,
  versions: ListOf(
    Fields({
      id: Id(),
      version: Nullable(Text()),
      created_at: Timestamp(),
      tags: ListOf(Text()),
      ...pipelines,
    }),
  ),
})

export const GroupPackage = Fields({ ...Package.properties, project_id: Id(), project_path: Text() })

export const PackageFile = Fields({
  id: Id(),
  package_id: Id(),
  created_at: Timestamp(),
  file_name: Text(),
  size: Int(),
  file_md5: Text(),
  file_sha1: Text(),
  file_sha256: Text(),
  pipelines: ListOf(PipelineSummary),
})

export interface PackageRow {
  readonly id: number
  readonly name: string
  readonly version: string | null
  readonly tags: readonly string[]
  readonly package_type: string
  readonly status: string
  readonly created_at: string
  readonly last_downloaded_at: string | null
  readonly pipeline: PipelineSummaryRow | null
}

export interface VersionedRow extends PackageRow {
  readonly versions: readonly Pick<PackageRow, 'id' | 'version' | 'tags' | 'created_at' | 'pipeline'>[]
}

export interface FileRow {
  readonly id: number
  readonly package_id: number
  readonly file_name: string
  readonly size: number
  readonly digest: string
  readonly md5: string
  readonly sha1: string
  readonly created_at: string
  readonly pipeline: PipelineSummaryRow | null
}

/** What an answer about packages of a project hangs on. */
export interface Surroundings {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly externalUrl: string
}

function shownPipelines(
  pipeline: PipelineSummaryRow | null,
  { project, externalUrl }: Pick<Surroundings, 'project' | 'externalUrl'>,
) {
  if (pipeline === null) return { pipelines: [] }
  const shown = pipelineSummary(pipeline, project, externalUrl)
  return { pipeline: shown, pipelines: [shown] }
}

export function packageEntity(row: PackageRow, about: Surroundings) {
  const { actor, project, externalUrl } = about
  const { pipeline, ...fields } = row
  return {
    ...fields,
    _links: {
      web_path: `/${project.fullPath}/-/packages/${row.id}`,
      ...(may(actor, 'destroy_package', project) && {
        delete_api_path: `${externalUrl}/api/v4/projects/${project.id}/packages/${row.id}`,
      }),
    },
    ...shownPipelines(pipeline, about),
  }
}

export function versionedEntity(row: VersionedRow, about: Surroundings) {
  const { versions, ...own } = row
  return {
    ...packageEntity(own, about),
    versions: versions.map(({ pipeline, ...version }) => ({
      ...version,
      ...shownPipelines(pipeline, about),
    })),
  }
}

export function fileEntity(row: FileRow, about: Pick<Surroundings, 'project' | 'externalUrl'>) {
  const { digest, md5, sha1, pipeline, ...fields } = row
  return {
    ...fields,
    file_md5: md5,
    file_sha1: sha1,
    file_sha256: digest,
    pipelines: shownPipelines(pipeline, about).pipelines,
  }
}

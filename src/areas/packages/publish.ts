import type { Actor, ProjectSubject } from '../../access/index.ts'
import { holdContent, removeUnused, type Blobs } from '../../blobs/index.ts'
import { onConstraint, sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { StoredFile } from './content.ts'
import type { FileRow } from './entities.ts'
import { fileColumns, type Format } from './store.ts'
import { storedJson } from './stored-json.ts'

export interface NewPackage {
  readonly type: Format
  readonly name: string
  /** The name as its package manager compares it. */
  readonly key: string
  /** Null: of all versions together. */
  readonly version: string | null
  /** What the format keeps of the version, as JSON. */
  readonly metadata?: object
  /** Undefined: as it is, and `default` of a new package. */
  readonly status?: 'default' | 'hidden' | undefined
  /** Lead to this version from now on, and to no other one. */
  readonly tags?: readonly string[]
}

export interface NewFile {
  readonly fileName: string
  readonly stored: StoredFile
  /** What the format keeps of the file, as JSON. */
  readonly metadata?: object
}

export interface Publication {
  readonly project: ProjectSubject
  readonly actor: Actor
  readonly package: NewPackage
  readonly file: NewFile
  /** Refuses what is there already: the version, or its file of this name. Undefined: the newest counts. */
  readonly once?: { readonly of: 'version' | 'file'; readonly refusal: () => Error }
}

/**
 * Writes down a file whose content is stored, in its package, which is made where there is none. What is refused leaves
 * no content behind.
 */
export async function publish(db: Database, blobs: Blobs, publication: Publication): Promise<FileRow> {
  try {
    return await db.transaction(async (tx) => {
      await holdContent(tx, blobs, 'package_files', publication.file.stored.digest)
      const { id, fresh } = await upsertPackage(tx, publication)
      const { once } = publication
      if (once?.of === 'version' && !fresh) throw once.refusal()
      if (once?.of === 'file' && (await hasFile(tx, id, publication.file.fileName))) throw once.refusal()
      for (const tag of publication.package.tags ?? []) await setTag(tx, id, tag)
      return insertFile(tx, id, publication)
    })
  } catch (error) {
    await removeUnused(db, blobs, 'package_files', [publication.file.stored.digest])
    throw error
  }
}

/** Whoever publishes the same package waits here for the other. */
async function upsertPackage(
  tx: Tx,
  { project, actor, package: made }: Publication,
): Promise<{ readonly id: number; readonly fresh: boolean }> {
  const { rows } = await sql<{ id: number; fresh: boolean }>`
    insert into packages as k
      (project_id, package_type, name, name_key, version, status, creator_id, pipeline_id, metadata)
    values (${project.id}, ${made.type}, ${made.name}, ${made.key}, ${made.version}, ${made.status ?? 'default'},
      ${actor.user?.id ?? null}, ${actor.job?.pipelineId ?? null}, ${storedJson(made.metadata ?? {})}::jsonb)
    on conflict on constraint packages_version do update set updated_at = now(),
      status = coalesce(${made.status ?? null}, k.status),
      pipeline_id = coalesce(excluded.pipeline_id, k.pipeline_id),
      metadata = case when excluded.metadata = '{}' then k.metadata else excluded.metadata end
    returning k.id, k.xmax = 0 as fresh`
    .execute(tx)
    .catch(onConstraint('packages_project', () => notFound('Project')))
  return rows[0]!
}

async function hasFile(tx: Tx, packageId: number, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from package_files f where f.package_id = ${packageId} and f.file_name = ${name} limit 1`.execute(
    tx,
  )
  return rows.length > 0
}

async function insertFile(tx: Tx, packageId: number, { actor, file }: Publication): Promise<FileRow> {
  const { stored } = file
  const { rows } = await sql<FileRow>`
    with f as (
      insert into package_files (package_id, file_name, size, digest, md5, sha1, pipeline_id, metadata)
      values (${packageId}, ${file.fileName}, ${stored.size}, ${stored.digest}, ${stored.md5}, ${stored.sha1},
        ${actor.job?.pipelineId ?? null}, ${storedJson(file.metadata ?? {})}::jsonb)
      returning *
    )
    select ${fileColumns} from f`.execute(tx)
  return rows[0]!
}

/** Within a project a tag leads to one version of a package. */
export async function setTag(tx: Tx, packageId: number, tag: string): Promise<void> {
  await sql`
    insert into package_tags (package_id, project_id, package_type, name_key, name)
    select k.id, k.project_id, k.package_type, k.name_key, ${tag} from packages k where k.id = ${packageId}
    on conflict on constraint package_tags_name do update set package_id = excluded.package_id`.execute(tx)
}

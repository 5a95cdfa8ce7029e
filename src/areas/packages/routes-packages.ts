import { endpoint, group, packageProject, project, projectFromRow } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import {
  fileEntity,
  GroupPackage,
  Package,
  packageEntity,
  PackageFile,
  PackageWithVersions,
  versionedEntity,
} from './entities.ts'
import type { PackageServices } from './index.ts'
import * as store from './store.ts'

const path = '/projects/:id/packages'

/** All that clients know to ask for; of some kinds there are none here. */
const kinds = [
  'conan',
  'maven',
  'npm',
  'pypi',
  'composer',
  'nuget',
  'helm',
  'terraform_module',
  'golang',
  'generic',
  'debian',
  'ml_model',
  'rubygems',
] as const

const statuses = ['default', 'hidden', 'processing', 'error', 'pending_destruction', 'deprecated'] as const

const filters = {
  sort: OneOf(['asc', 'desc'], { default: 'asc' }),
  package_type: Optional(OneOf(kinds, {})),
  package_name: Optional(Text({ description: 'Part of the name' })),
  package_version: Optional(Text()),
  include_versionless: Optional(Flag({ description: 'Those that hold files of all versions, too' })),
  status: Optional(OneOf(statuses, {})),
}

/** Packages of every kind, and their files. */
export function packageEndpoints({ db, externalUrl }: PackageServices): Endpoint[] {
  const common = { on: project, basic: true, deployToken: true, jobToken: true } as const
  const reading = { ...common, on: packageProject, may: 'read_package', anonymous: true } as const
  const removing = { ...common, may: 'destroy_package', record: true, answers: null } as const
  const package_id = Id()

  return [
    endpoint({
      ...reading,
      method: 'GET',
      path,
      summary: 'List the packages of a project',
      paged: true,
      params: Fields({ order_by: OneOf(store.orders, { default: 'created_at' }), ...filters }),
      answers: ListOf(Package),
      read: ({ params, page }) => store.list(params, page),
      handle: async ({ actor, project, rows }) =>
        rows.map((row) => packageEntity(row, { actor, project, externalUrl: externalUrl() })),
    }),

    endpoint({
      ...reading,
      method: 'GET',
      path: `${path}/:package_id`,
      summary: 'Get a package',
      record: true,
      params: Fields({ package_id }),
      answers: PackageWithVersions,
      read: ({ params }) => store.one(params.package_id),
      handle: async ({ actor, project, rows }) =>
        versionedEntity(rows[0]!, { actor, project, externalUrl: externalUrl() }),
    }),

    endpoint({
      ...removing,
      method: 'DELETE',
      path: `${path}/:package_id`,
      summary: 'Delete a package',
      params: Fields({ package_id }),
      read: ({ params }) => store.one(params.package_id),
      handle: ({ rows }) => store.remove(db.writer, rows[0]!.id),
    }),

    endpoint({
      ...reading,
      method: 'GET',
      path: `${path}/:package_id/package_files`,
      summary: 'List the files of a package',
      paged: true,
      params: Fields({ package_id }),
      answers: ListOf(PackageFile),
      read: ({ params, page }) => store.listFiles(params.package_id, page),
      handle: async ({ project, rows }) =>
        rows.map((row) => fileEntity(row, { project, externalUrl: externalUrl() })),
    }),

    endpoint({
      ...removing,
      method: 'DELETE',
      path: `${path}/:package_id/package_files/:package_file_id`,
      summary: 'Delete a file of a package',
      params: Fields({ package_id, package_file_id: Id() }),
      read: ({ params }) => store.oneFile(params.package_id, params.package_file_id),
      handle: ({ rows }) => store.removeFile(db.writer, rows[0]!.id),
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/packages',
      summary: 'List the packages of all projects of a group',
      on: group,
      may: 'read_package',
      anonymous: true,
      paged: true,
      params: Fields({
        exclude_subgroups: Flag({ default: false }),
        order_by: OneOf([...store.orders, 'project_path'], { default: 'created_at' }),
        ...filters,
      }),
      answers: ListOf(GroupPackage),
      read: ({ params, page }) => store.listOfGroup(params, page),
      handle: async ({ actor, rows }) =>
        rows.map(({ project: projectRow, role, ...row }) => {
          const project = projectFromRow(projectRow, role)
          return {
            ...packageEntity(row, { actor, project, externalUrl: externalUrl() }),
            project_id: project.id,
            project_path: project.fullPath,
          }
        }),
    }),
  ]
}

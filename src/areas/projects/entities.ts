import {
  FeatureLevel,
  isAdministrator,
  isOpenTo,
  isVisible,
  may,
  projectFromRow,
  visibilityName,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Settings, SettingValues } from '../../settings/index.ts'
import { avatarUrl } from '../avatars/index.ts'
import { aboutLicense } from '../templates/index.ts'
import { basicUser } from '../users/index.ts'
import { homeEntity } from './home.ts'
import { levelNames, type FeatureLevels } from './feature-levels.ts'
import type { OwnProjectRow, PlainProjectRow, ProjectRow } from './rows.ts'
import { allSettings, shownSettings } from './settings.ts'
import { statisticsEntity } from './statistics.ts'

export type ProjectForm = 'basic' | 'full' | 'with access'

/** What a project's entity hangs on besides its row. */
export interface EntityContext {
  readonly actor: Actor
  /** Without a slash at the end. */
  readonly externalUrl: string
  readonly sshAddress: (fullPath: string) => string
  /** Where repositories are cloned from over HTTP, without a slash at the end. */
  readonly cloneRoot: string
  readonly paid: boolean
  /** Host of the registry of images; undefined where it is off. */
  readonly registry?: string | undefined
  readonly license?: boolean | undefined
  /** For those who look after the project; left out in lists. */
  readonly runnersToken?: string | null
}

/** What is the same for all that one caller is shown. */
export interface ContextServices {
  readonly externalUrl: () => string
  /** Where a repository is cloned from over SSH. */
  readonly sshAddress: (fullPath: string) => string
  readonly plan: Plan
  readonly settings: Pick<Settings, 'values'>
  readonly images: { readonly enabled: boolean; readonly host: () => string }
}

/** Where repositories are cloned from over HTTP. */
export function cloneRoot({ custom_http_clone_url_root: own }: SettingValues, externalUrl: string): string {
  return own?.replace(/\/+$/, '') ?? externalUrl
}

export function contextOf(
  { externalUrl, sshAddress, plan, settings, images }: ContextServices,
  actor: Actor,
): EntityContext {
  const registry = images.enabled ? images.host() : undefined
  return {
    actor,
    externalUrl: externalUrl(),
    sshAddress,
    cloneRoot: cloneRoot(settings.values, externalUrl()),
    paid: offers(plan, 'project_settings'),
    registry,
  }
}

export function subjectOf(row: PlainProjectRow): ProjectSubject {
  return projectFromRow(row as unknown as Readonly<Record<string, unknown>>, row.role)
}

/** `descriptionHtml` is needed for all forms but the basic one; `showProjects` has it rendered. */
export function project(
  row: ProjectRow,
  form: ProjectForm,
  context: EntityContext,
  descriptionHtml = '',
): Record<string, unknown> {
  const subject = subjectOf(row)
  const basic = basicProject(row, subject, context)
  if (form === 'basic') return basic
  const full = { ...basic, ...fullEntity(row, subject, context), description_html: descriptionHtml }
  return form === 'full' ? full : { ...full, permissions: permissions(row) }
}

/** The short form of a project that was entered. */
export function basicProject(
  row: OwnProjectRow,
  subject: ProjectSubject,
  { actor, externalUrl, sshAddress, cloneRoot, license }: EntityContext,
) {
  const web = `${externalUrl}/${row.full_path}`
  const readsCode = may(actor, 'read_code', subject)
  const readme = readsCode && row.readme_path !== null && row.default_branch !== null
  return {
    id: row.id,
    description: row.description,
    name: row.name,
    name_with_namespace: `${row.line_name} / ${row.name}`,
    path: row.path,
    path_with_namespace: row.full_path,
    created_at: row.created_at,
    default_branch: readsCode ? row.default_branch : undefined,
    tag_list: row.topics,
    topics: row.topics,
    ssh_url_to_repo: sshAddress(row.full_path),
    http_url_to_repo: `${cloneRoot}/${row.full_path}.git`,
    web_url: web,
    readme_url: readme ? `${web}/-/blob/${row.default_branch}/${row.readme_path}` : null,
    ...(license === true && licenseEntity(row, readsCode, web)),
    forks_count: row.forks_count,
    avatar_url: avatarUrl(row.avatar, externalUrl),
    star_count: row.star_count,
    last_activity_at: row.last_activity_at,
    visibility: visibilityName(row.visibility),
    namespace: homeEntity(row, externalUrl),
    repository_storage: isAdministrator(actor) ? row.storage : undefined,
  }
}

/** A license that is none we know is another one. */
function licenseEntity(
  { license_path: path, license_key: key, default_branch: branch }: OwnProjectRow,
  readsCode: boolean,
  web: string,
) {
  if (!readsCode || path === null || branch === null) return { license_url: null, license: null }
  const about = key === null ? undefined : aboutLicense(key)
  return {
    license_url: `${web}/-/blob/${branch}/${path}`,
    license: {
      key: key ?? 'other',
      name: about?.name ?? 'Other',
      nickname: about?.nickname ?? null,
      html_url: about === undefined ? null : `https://choosealicense.com/licenses/${key}/`,
      source_url: about?.source ?? null,
    },
  }
}

function fullEntity(row: ProjectRow, subject: ProjectSubject, context: EntityContext) {
  const { actor, externalUrl, paid, registry } = context
  const { features } = subject
  const open = (feature: keyof FeatureLevels): boolean =>
    isAdministrator(actor)
      ? features[feature] > FeatureLevel.disabled
      : isOpenTo(features[feature], subject.role)
  const maintainers = may(actor, 'admin_project', subject)
  const settings = allSettings(row.settings)
  // What is to go is archived until then.
  const archived = row.archived || row.marked_for_deletion_on !== null
  return {
    forked_from_project: forkedFrom(row, context),
    container_registry_image_prefix:
      registry === undefined ? null : `${registry}/${row.full_path.toLowerCase()}`,
    _links: links(row.id, externalUrl, { issues: open('issues'), mergeRequests: open('merge_requests') }),
    packages_enabled: features.package_registry > FeatureLevel.disabled,
    empty_repo: row.repository_empty,
    archived,
    owner: row.owner === null ? undefined : basicUser(row.owner, externalUrl),
    marked_for_deletion_at: row.marked_for_deletion_on,
    marked_for_deletion_on: row.marked_for_deletion_on,
    repository_object_format: 'sha1',
    issues_enabled: open('issues'),
    merge_requests_enabled: open('merge_requests'),
    wiki_enabled: open('wiki'),
    jobs_enabled: open('builds'),
    snippets_enabled: open('snippets'),
    container_registry_enabled: open('container_registry'),
    service_desk_address: null,
    can_create_merge_request_in:
      actor.user !== null && !archived && open('merge_requests') && may(actor, 'read_code', subject),
    ...levelNames(features),
    emails_disabled: !settings.emails_enabled,
    creator_id: row.creator_id,
    import_url: maintainers ? (row.pull_mirror?.url ?? row.import_url) : null,
    import_type: row.import_type,
    import_status: row.import_status,
    import_error: row.import_error,
    open_issues_count: open('issues') ? row.open_issues_count : undefined,
    updated_at: row.updated_at,
    statistics:
      row.statistics !== undefined && may(actor, 'read_project_statistics', subject)
        ? statisticsEntity(row.statistics)
        : undefined,
    shared_with_groups: row.shared_with_groups,
    security_and_compliance_enabled: paid ? open('security_and_compliance') : undefined,
    requirements_enabled: paid ? open('requirements') : undefined,
    compliance_frameworks: paid ? [] : undefined,
    ...(row.custom_attributes != null && { custom_attributes: row.custom_attributes }),
    ...(paid && mirrorEntity(row)),
    ...shownSettings(settings, { maintainers, paid }),
    mr_default_target_self: row.forked_from === null ? null : settings.mr_default_target_self,
    ...(maintainers && {
      restrict_user_defined_variables: settings.ci_pipeline_variables_minimum_override_role !== 'developer',
      runners_token: context.runnersToken ?? null,
      runner_token_expiration_interval: null,
    }),
  }
}

/** Of the repository elsewhere that it follows. */
function mirrorEntity({ pull_mirror: mirror }: ProjectRow) {
  if (mirror === null) return { mirror: false }
  const { url: _, ...rest } = mirror
  return { mirror: true, ...rest }
}

/** Where a fork comes from, for those who may see that. */
function forkedFrom({ forked_from: from }: ProjectRow, context: EntityContext) {
  if (from === null) return null
  const subject = subjectOf(from)
  return isVisible(context.actor, subject)
    ? basicProject(from, subject, { ...context, license: false })
    : null
}

function links(id: number, externalUrl: string, has: { issues: boolean; mergeRequests: boolean }) {
  const self = `${externalUrl}/api/v4/projects/${id}`
  return {
    self,
    issues: has.issues ? `${self}/issues` : undefined,
    merge_requests: has.mergeRequests ? `${self}/merge_requests` : undefined,
    repo_branches: `${self}/repository/branches`,
    labels: `${self}/labels`,
    events: `${self}/events`,
    members: `${self}/members`,
    cluster_agents: `${self}/cluster_agents`,
  }
}

/** By its number: notifications go by the setting above. */
const asAbove = 3

function permissions(row: ProjectRow) {
  const access = (level: number | null, notifications: number | null) =>
    level === null ? null : { access_level: level, notification_level: notifications ?? asAbove }
  return {
    project_access: access(row.project_access, row.project_notifications),
    group_access: access(row.group_access, row.group_notifications),
  }
}

import { pushFiles } from '../../world/push.ts'
import { RegistryClient } from '../../registry/client.ts'
import { expectStatus, rootToken, type Json, type World } from '../../world/world.ts'
import { newSshKey } from '../../world/ssh-key.ts'

export type Things = Readonly<Record<string, string | number>>

const id = (thing: Json): number => thing['id'] as number

const configuration = 'build:\n  script: echo hello\n'

/** One existing object of each kind that paths name: a parameter's value by what stands before it and its name. */
export async function makeThings(world: World): Promise<Things> {
  const group = await world.group()
  const project = await world.project({ namespace_id: id(group) })
  const path = `/projects/${id(project)}`
  const member = await world.member({ project }, 'developer')
  await world.root.post(`/groups/${id(group)}/members`, { user_id: member.id, access_level: 30 })
  const user = await world.user()
  const make = async (address: string, body: Json): Promise<Json> =>
    expectStatus(await world.root.post(address, body), 201)
  await make(`${path}/variables`, { key: 'KEY', value: 'x' })
  await make(`/groups/${id(group)}/variables`, { key: 'KEY', value: 'x' })
  await make(`${path}/protected_branches`, { name: 'kept' })
  await make(`${path}/protected_tags`, { name: 'kept' })
  await pushFiles(world, project, { '.gitlab-ci.yml': configuration }, ['main', 'free'])
  const pipeline = await make(`${path}/pipeline`, { ref: 'main' })
  const jobs = await world.root.get(`${path}/pipelines/${id(pipeline)}/jobs`)
  const job = id((jobs.body as Json[])[0]!)
  const runner = await make('/user/runners', { runner_type: 'project_type', project_id: id(project) })
  const trigger = await make(`${path}/triggers`, { description: 'x' })
  const schedule = await make(`${path}/pipeline_schedules`, {
    description: 'x',
    ref: 'main',
    cron: '0 1 * * *',
  })
  await make(`${path}/pipeline_schedules/${id(schedule)}/variables`, { key: 'KEY', value: 'x' })
  for (const place of [path, `/groups/${id(group)}`]) {
    await make(`${place}/protected_environments`, {
      name: 'production',
      deploy_access_levels: [{ access_level: 40 }],
    })
  }
  await make(`${path}/feature_flags_client`, {})
  await make(`${path}/feature_flags`, { name: 'flag' })
  const users = await make(`${path}/feature_flags_user_lists`, { name: 'list', user_xids: 'one' })
  const freeze = await make(`${path}/freeze_periods`, { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *' })
  await make(`${path}/repository/tags`, { tag_name: 'v1', ref: 'main' })
  for (const place of [path, `/groups/${id(group)}`])
    await make(`${place}/wikis`, { title: 'page', content: 'x' })
  const { publicKey } = newSshKey()
  const key = await make(`/users/${user.id}/keys`, { title: 'x', key: publicKey })
  const deployKey = await make(`${path}/deploy_keys`, { title: 'x', key: newSshKey().publicKey })
  const mirror = await make(`${path}/remote_mirrors`, { url: 'http://192.0.2.1/x.git' })
  const token = await make(`/users/${user.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })
  const container = await make(`${path}/registry/protection/repository/rules`, {
    repository_path_pattern: `${project['path_with_namespace']}/x`,
    minimum_access_level_for_push: 'admin',
  })
  const snippet = await make(`${path}/snippets`, {
    title: 'x',
    visibility: 'private',
    files: [{ file_path: 'a.txt', content: 'x' }],
  })
  const about = `${path}/snippets/${id(snippet)}`
  const thread = await make(`${about}/discussions`, { body: 'x' })
  const award = await make(`${about}/award_emoji`, { name: 'tada' })
  const application = await make('/applications', {
    name: 'x',
    redirect_uri: 'https://client.example/x',
    scopes: 'read_user',
  })
  const image = await pushImage(world, project)
  const state = { version: 4, serial: 1 }
  expectStatus(await world.root.post(`${path}/terraform/state/production`, state), 200)
  const file = expectStatus(
    await world.root.put(`${path}/packages/generic/tool/1.0/tool.bin?select=package_file`, 'x'),
    201,
  )
  const chat = { webhook: 'http://192.0.2.1/' }
  for (const place of [path, `/groups/${id(group)}`])
    expectStatus(await world.root.put(`${place}/integrations/pumble`, chat), 200)
  return {
    'integrations :slug': 'pumble',
    'services :slug': 'pumble',
    'state :name': 'production',
    'versions :serial': 1,
    'packages :package_id': file['package_id'] as number,
    'package_files :package_file_id': id(file),
    'generic :package_name': 'tool',
    ':package_version': '1.0',
    'repositories :repository_id': image,
    'repositories :id': image,
    'rules :protection_rule_id': id(container),
    'projects :id': id(project),
    'groups :id': id(group),
    'users :id': user.id,
    'applications :id': id(application),
    'users :user_id': user.id,
    'members :user_id': member.id,
    'all :user_id': member.id,
    'user :user_id': user.id,
    'variables :key': 'KEY',
    'protected_branches :name': 'kept',
    'protected_tags :name': 'kept',
    'personal_access_tokens :id': id(token),
    'namespaces :id': id(group),
    'pipelines :pipeline_id': id(pipeline),
    'jobs :job_id': job,
    'jobs :id': job,
    'artifacts :ref_name': 'main',
    'triggers :trigger_id': id(trigger),
    'pipeline_schedules :pipeline_schedule_id': id(schedule),
    'freeze_periods :freeze_period_id': id(freeze),
    'feature_flags :feature_flag_name': 'flag',
    'feature_flags_user_lists :iid': users['iid'] as number,
    'unleash :project_id': id(project),
    'protected_environments :name': 'production',
    'ref :ref': 'main',
    'runners :id': id(runner),
    'runners :runner_id': id(runner),
    'branches :branch': 'free',
    'tags :tag_name': 'v1',
    'commits :sha': 'main',
    'statuses :sha': 'main',
    'keys :id': id(key),
    'keys :key_id': id(key),
    'deploy_keys :key_id': id(deployKey),
    'remote_mirrors :mirror_id': id(mirror),
    'files :file_path': '.gitlab-ci.yml',
    'archive.:format': 'zip',
    'snippets :snippet_id': id(snippet),
    'award_emoji :award_id': id(award),
    'commits :commit_id': 'main',
    'discussions :discussion_id': thread['id'] as string,
    'notes :note_id': id((thread['notes'] as Json[])[0]!),
    'wikis :slug': 'page',
    'wiki_versions :slug': 'page',
    'wiki_diffs :slug': 'page',
    'wiki_attachments :path': 'page.md',
  }
}

/** The path with an object's name for each parameter, or other text for one of them. */
export function fillPath(path: string, things: Things, other: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/([^/]*\/?)(:(\w+)|\*)/g, (_, before: string, parameter: string, name = '*') => {
    const value = things[`${before.replace('/', ' ')}${parameter}`] ?? 1
    return before + (other[name as string] ?? encodeURIComponent(value))
  })
}

/** The id of a repository with an image. */
export async function pushImage(world: World, project: Json): Promise<number> {
  const client = new RegistryClient(world, { username: 'root', password: rootToken })
  await client.pushImage(`${project['path_with_namespace'] as string}/image`, 'v1')
  const listed = await world.root.get(`/projects/${id(project)}/registry/repositories`)
  return id((listed.body as Json[])[0]!)
}

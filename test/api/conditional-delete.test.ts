import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSshKey } from '../world/ssh-key.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let ids: { user: number; group: number; project: number }
beforeAll(async () => {
  world = await startWorld()
  const group = await world.group()
  const project = await world.project({ namespace_id: group.id, initialize_with_readme: true })
  ids = { user: (await world.user()).id, group: group.id, project: project.id }
})
afterAll(() => world[Symbol.asyncDispose]())

const inAYear = () => new Date(Date.now() + 300 * 86_400_000).toISOString().slice(0, 10)

/** Makes one by `path`, and answers the address of what was made. */
async function made(path: string, body: Json, key: string, under = path): Promise<string> {
  const row = expectStatus(await world.root.post(path, body), 201)
  return `${under}/${encodeURIComponent(String(row[key]))}`
}

const of = {
  user: () => `/users/${ids.user}`,
  group: () => `/groups/${ids.group}`,
  project: () => `/projects/${ids.project}`,
}
const token = () => ({ name: 'a token', scopes: ['read_api'], expires_at: inAYear() })
const deployToken = () => ({ name: 'a token', scopes: ['read_repository'] })
const hook = () => ({ url: 'https://8.8.8.8/hook' })

const makers: Record<string, () => Promise<string>> = {
  user: async () => `/users/${(await world.user()).id}`,
  group: async () => `/groups/${(await world.group()).id}`,
  project: async () => `/projects/${(await world.project()).id}`,
  'SSH key': () => made(`${of.user()}/keys`, { title: 'a key', key: newSshKey().publicKey }, 'id'),
  'own SSH key': () => made('/user/keys', { title: 'a key', key: newSshKey().publicKey }, 'id'),
  'e-mail address': () =>
    made(
      `${of.user()}/emails`,
      { email: `${world.unique('mail')}@example.com`, skip_confirmation: true },
      'id',
    ),
  'personal access token': () =>
    made(`${of.user()}/personal_access_tokens`, token(), 'id', '/personal_access_tokens'),
  'impersonation token': () => made(`${of.user()}/impersonation_tokens`, token(), 'id'),
  'project access token': () => made(`${of.project()}/access_tokens`, token(), 'id'),
  'group access token': () => made(`${of.group()}/access_tokens`, token(), 'id'),
  'deploy key': () =>
    made(`${of.project()}/deploy_keys`, { title: 'a key', key: newSshKey().publicKey }, 'id'),
  'deploy token of a project': () => made(`${of.project()}/deploy_tokens`, deployToken(), 'id'),
  'deploy token of a group': () => made(`${of.group()}/deploy_tokens`, deployToken(), 'id'),
  'share of a project': async () => {
    const other = { group_id: (await world.group()).id, group_access: 30 }
    return made(`${of.project()}/share`, other, 'group_id')
  },
  'share of a group': async () => {
    const other = { group_id: (await world.group()).id, group_access: 30 }
    expectStatus(await world.root.post(`${of.group()}/share`, other), 201)
    return `${of.group()}/share/${other.group_id}`
  },
  invitation: async () => {
    const email = `${world.unique('guest')}@example.com`
    expectStatus(await world.root.post(`${of.project()}/invitations`, { email, access_level: 30 }), 201)
    return `${of.project()}/invitations/${encodeURIComponent(email)}`
  },
  branch: () =>
    made(`${of.project()}/repository/branches`, { branch: world.unique('b'), ref: 'main' }, 'name'),
  tag: () => made(`${of.project()}/repository/tags`, { tag_name: world.unique('v'), ref: 'main' }, 'name'),
  'annotated tag': () =>
    made(
      `${of.project()}/repository/tags`,
      { tag_name: world.unique('v'), ref: 'main', message: 'A tag' },
      'name',
    ),
  'protected tag': () => made(`${of.project()}/protected_tags`, { name: world.unique('v') }, 'name'),
  webhook: () => made(`${of.project()}/hooks`, hook(), 'id'),
  'webhook of a group': () => made(`${of.group()}/hooks`, hook(), 'id'),
  'pipeline schedule': () =>
    made(
      `${of.project()}/pipeline_schedules`,
      { description: 'nightly', ref: 'main', cron: '0 3 * * *' },
      'id',
    ),
  environment: async () => {
    const path = await made(`${of.project()}/environments`, { name: world.unique('env') }, 'id')
    expectStatus(await world.root.post(`${path}/stop`), 200)
    return path
  },
}

test.each(Object.entries(makers))(
  '%s: If-Unmodified-Since before its last change refuses its deletion, and nothing goes',
  async (_name, make) => {
    const path = await make()
    const since = (time: number) => ({ 'if-unmodified-since': new Date(time).toUTCString() })
    const refused = await world.root.delete(path, undefined, since(Date.now() - 3600_000))
    expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }])
    const gone = await world.root.delete(path, undefined, since(Date.now() + 60_000))
    expect([202, 204]).toContain(gone.status)
  },
)

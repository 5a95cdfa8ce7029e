import type { FreshService } from './fresh-service.ts'
import type { LoadRequest } from './http-load.ts'
import { Dice } from './world.ts'

/* What people do for hours, and what they do it to. */

const projectCount = 20
const peopleCount = 10
const issuesPerProject = 20
const dice = new Dice(11)

interface Made {
  readonly id: number
}

interface Project extends Made {
  readonly fullPath: string
}

/** What was made to be asked about. */
export interface World {
  readonly projects: readonly Project[]
  readonly tokens: readonly string[]
}

export async function prepare(service: FreshService): Promise<World> {
  const { id: group } = await service.make<Made>('/groups', { name: 'soak', path: 'soak' })
  const tokens: string[] = []
  for (let number = 1; number <= peopleCount; number += 1) {
    const username = `person-${number}`
    const email = `${username}@example.com`
    const { id } = await service.make<Made>('/users', {
      ...{ username, name: username, email },
      ...{ force_random_password: true, skip_confirmation: true },
    })
    await service.make(`/groups/${group}/members`, { user_id: id, access_level: 40 })
    const { token } = await service.make<{ token: string }>(`/users/${id}/personal_access_tokens`, {
      name: 'soak',
      scopes: ['api'],
    })
    tokens.push(token)
  }
  const projects: Project[] = []
  for (let number = 1; number <= projectCount; number += 1) {
    const project = await service.make<Made & { path_with_namespace: string }>('/projects', {
      name: `app-${number}`,
      namespace_id: group,
    })
    const { id } = project
    await service.make(`/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: 'Begin',
      actions: [
        { action: 'create', file_path: 'README.md', content: '# App\n' },
        // Nobody is here to run it: what counts is that the pipeline is made.
        { action: 'create', file_path: '.gitlab-ci.yml', content: 'test: { script: ls, when: manual }\n' },
      ],
    })
    await service.make(`/projects/${id}/variables`, { key: 'KEY', value: 'value' })
    for (let issue = 1; issue <= issuesPerProject; issue += 1) {
      await service.make(`/projects/${id}/issues`, { title: `Issue ${issue}` })
    }
    projects.push({ id, fullPath: project.path_with_namespace })
  }
  return { projects, tokens }
}

/**
 * Nine questions of ten, and a change. None is about the latest pipeline: right after a push there is none, and the
 * answer 403.
 */
export function apiRequests({ projects, tokens }: World): LoadRequest[] {
  const questions = [
    '',
    '/repository/tree',
    '/repository/commits',
    '/repository/branches',
    '/repository/files/README.md?ref=main',
    '/pipelines',
    '/issues',
    '/issues/1/notes',
    '/merge_requests',
    '/variables',
    '/members/all',
  ]
  const changes: [string, string, object][] = [
    ['POST', '/issues/{issue}/notes', { body: 'Note {n}' }],
    ['PUT', '/variables/KEY', { value: 'value {n}' }],
    ['PUT', '/issues/{issue}', { title: 'Issue {n}' }],
  ]
  return Array.from({ length: 2_000 }, (_, index) => {
    const project = `/api/v4/projects/${dice.of(projects).id}`
    const headers = { 'private-token': dice.of(tokens), 'content-type': 'application/json' }
    if (index % 10 === 0) {
      const [method, address, body] = dice.of(changes)
      const place = address.replace('{issue}', String(1 + dice.below(issuesPerProject)))
      return { method, path: project + place, headers, body: JSON.stringify(body) }
    }
    const elsewhere = ['/api/v4/user', '/api/v4/projects?membership=true', '/api/v4/groups/soak/projects']
    const path = dice.below(8) === 0 ? dice.of(elsewhere) : project + dice.of(questions)
    return { method: 'GET', path, headers }
  })
}

export const webRequests: LoadRequest[] = ['/', '/users/sign_in', '/-/api', '/-/health'].map((page) => ({
  method: 'GET',
  path: page,
  headers: {},
}))

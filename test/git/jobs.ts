import type { Person } from '../world/client.ts'
import { expectStatus, type Json, type World } from '../world/world.ts'
import { git, type Copies } from './copies.ts'

export interface RunningJob {
  readonly id: number
  readonly token: string
  /** Tells the service that it has ended. */
  end(): Promise<void>
}

/** A job that somebody's push has made and a runner has taken. */
export async function runningJob(
  world: World,
  copies: Copies,
  project: Json,
  pusher: Person,
): Promise<RunningJob> {
  const runner = expectStatus(
    await world.root.post('/user/runners', {
      runner_type: 'project_type',
      project_id: project['id'] as number,
    }),
    201,
  )
  const copy = await copies.clone(project, pusher)
  await git(copy, 'checkout', '--quiet', '-b', world.unique('job'))
  await copies.commit(copy, { '.gitlab-ci.yml': 'work:\n  script: make\n' })
  await git(copy, 'push', '--quiet', 'origin', 'HEAD')
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answer = await world.anonymous.post('/jobs/request', { token: runner['token'] as string })
    if (answer.status === 201) {
      const { id, token } = answer.body as { id: number; token: string }
      return {
        id,
        token,
        async end() {
          await world.anonymous.put(`/jobs/${id}`, { token, state: 'success' })
        },
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('no job came')
}

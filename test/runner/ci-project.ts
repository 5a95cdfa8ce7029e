import { stringify } from 'yaml'
import { Copies, git } from '../git/copies.ts'
import { expectStatus, type Json, type World } from '../world/world.ts'
import type { Person } from '../world/client.ts'
import { RawRunner, type RawJob } from './raw-runner.ts'

export const configFile = '.gitlab-ci.yml'
export const oneJob = { test: { script: ['echo hello'] } }

/** Makes projects with a configuration; pushed by the real client. */
export class CiProjects implements AsyncDisposable {
  readonly #world: World
  readonly #copies: Copies

  private constructor(world: World, copies: Copies) {
    this.#world = world
    this.#copies = copies
  }

  static async open(world: World): Promise<CiProjects> {
    return new CiProjects(world, await Copies.open(world))
  }

  /**
   * A project whose first commit holds this configuration (an object is written as YAML) and makes no pipeline;
   * without instance runners, so that suites do not take one another's jobs.
   */
  async make(config: Json | string, fields: Json = {}): Promise<CiProject> {
    const project = await this.#world.project({ shared_runners_enabled: false, ...fields })
    const folder = await this.#copies.fresh(project, this.#world.root)
    const text = typeof config === 'string' ? config : stringify(config)
    const sha = await this.#copies.commit(folder, { [configFile]: text }, 'Add configuration')
    await git(folder, 'push', '--quiet', '-o', 'ci.skip', 'origin', 'HEAD:main')
    return new CiProject(this.#copies, project, folder, sha)
  }

  /** A project whose pipeline runs, a runner of its own, and the first job taken. */
  async running(
    config: Json = oneJob,
  ): Promise<{ ci: CiProject; runner: RawRunner; job: RawJob; pipeline: Json }> {
    const ci = await this.make(config)
    const runner = await RawRunner.forProject(this.#world, ci.project)
    const pipeline = await ci.run(this.#world.root)
    return { ci, runner, pipeline, job: await runner.take() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#copies[Symbol.asyncDispose]()
  }
}

export class CiProject {
  readonly #copies: Copies
  readonly project: Json
  readonly id: number
  readonly folder: string
  readonly sha: string

  constructor(copies: Copies, project: Json, folder: string, sha: string) {
    this.#copies = copies
    this.project = project
    this.id = project['id'] as number
    this.folder = folder
    this.sha = sha
  }

  async run(person: Person, body: Json = {}): Promise<Json> {
    return expectStatus(await person.post(`/projects/${this.id}/pipeline`, { ref: 'main', ...body }), 201)
  }

  async push(
    files: Record<string, string>,
    { message = 'Change', to = 'main', options = [] as string[] } = {},
  ): Promise<string> {
    const sha = await this.#copies.commit(this.folder, files, message)
    await git(
      this.folder,
      'push',
      '--quiet',
      ...options.flatMap((option) => ['-o', option]),
      'origin',
      `HEAD:${to}`,
    )
    return sha
  }
}

/** Asks until the answer is as wanted. */
export async function until<T>(
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean,
  within = 10_000,
): Promise<T> {
  for (const end = Date.now() + within; ;) {
    const answer = await ask()
    if (wanted(answer)) return answer
    if (Date.now() > end) throw new Error(`not as wanted after ${within} ms: ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

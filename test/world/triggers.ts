import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import type { Client, Person, Reply } from './client.ts'
import { expectStatus, type Json, type World } from './world.ts'

export interface TriggerPlace {
  ci: CiProject
  path: string
  maintainer: Person
}

export interface Trigger extends Json {
  id: number
  token: string
}

export const oneJob = { test: { script: ['echo hello'] } }

/** Projects with trigger tokens. */
export class Triggers implements AsyncDisposable {
  readonly projects: CiProjects
  readonly #world: World

  private constructor(world: World, projects: CiProjects) {
    this.#world = world
    this.projects = projects
  }

  static async open(world: World): Promise<Triggers> {
    return new Triggers(world, await CiProjects.open(world))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.projects[Symbol.asyncDispose]()
  }

  /** A project with a configuration on its protected `main`, and somebody who looks after it. */
  async place(config: Json | string = oneJob, fields: Json = {}): Promise<TriggerPlace> {
    const ci = await this.projects.make(config, fields)
    const maintainer = await this.#world.member({ project: ci.project }, 'maintainer')
    return { ci, path: `/projects/${ci.id}/triggers`, maintainer }
  }

  async make(by: Client, path: string, fields: Json = {}): Promise<Trigger> {
    return expectStatus(await by.post(path, { description: 'nightly', ...fields }), 201) as Trigger
  }

  fire({ id }: CiProject, body: unknown, by: Client = this.#world.anonymous, headers = {}): Promise<Reply> {
    return by.post(`/projects/${id}/trigger/pipeline`, body, headers)
  }
}

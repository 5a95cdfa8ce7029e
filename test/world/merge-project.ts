import type { Person, Reply } from './client.ts'
import { expectStatus, type Json, type Made, type World } from './world.ts'

/** A project with a first commit on `main`, which is protected, and with people in it. */
export class MergeProject {
  readonly project: Made
  readonly developer: Person
  readonly maintainer: Person
  readonly #world: World

  constructor(world: World, project: Made, people: { developer: Person; maintainer: Person }) {
    this.#world = world
    this.project = project
    this.developer = people.developer
    this.maintainer = people.maintainer
  }

  get id(): number {
    return this.project.id
  }
  get fullPath(): string {
    return this.project.path_with_namespace
  }
  get base(): string {
    return `/projects/${this.id}`
  }
  /** The list of its requests. */
  get path(): string {
    return `${this.base}/merge_requests`
  }
  one(iid: number): string {
    return `${this.path}/${iid}`
  }

  /** A commit with these files on a branch, made from `main` where there is none of that name. */
  async commit(branch: string, files: Readonly<Record<string, string>>, fields: Json = {}): Promise<string> {
    const exists = (
      await this.#world.root.get(`${this.base}/repository/branches/${encodeURIComponent(branch)}`)
    ).status
    const known = exists === 200 ? await this.paths(branch) : await this.paths('main')
    const reply = await this.#world.root.post(`${this.base}/repository/commits`, {
      branch,
      ...(exists !== 200 && { start_branch: 'main' }),
      commit_message: `Write ${Object.keys(files).join(', ')}`,
      actions: Object.entries(files).map(([file_path, content]) => ({
        action: known.has(file_path) ? 'update' : 'create',
        file_path,
        content,
      })),
      ...fields,
    })
    return expectStatus(reply, 201)['id'] as string
  }

  async paths(ref: string): Promise<Set<string>> {
    const reply = await this.#world.root.get(
      `${this.base}/repository/tree?recursive=true&per_page=100&ref=${encodeURIComponent(ref)}`,
    )
    return new Set((expectStatus(reply, 200) as Json[]).map(({ path }) => path as string))
  }

  async branch(
    files: Readonly<Record<string, string>>,
    name = this.#world.unique('branch'),
  ): Promise<string> {
    await this.commit(name, files)
    return name
  }

  /** A request by the developer into `main`, from a new branch with these files. */
  async request(
    files: Readonly<Record<string, string>>,
    fields: Json = {},
    by: Person = this.developer,
  ): Promise<Json> {
    const source_branch = await this.branch(files, fields['source_branch'] as string | undefined)
    const body = { target_branch: 'main', title: 'Change', ...fields, source_branch }
    return expectStatus(await by.post(this.path, body), 201)
  }

  merge(iid: number, fields: Json = {}, by: Person = this.maintainer): Promise<Reply> {
    return by.put(`${this.one(iid)}/merge`, fields)
  }

  async head(branch: string): Promise<string | undefined> {
    const reply = await this.#world.root.get(`${this.base}/repository/branches/${encodeURIComponent(branch)}`)
    return reply.status === 200 ? ((reply.body as Json)['commit'].id as string) : undefined
  }
}

export class MergeProjects {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  async make(fields: Json = {}): Promise<MergeProject> {
    const project = await this.#world.project({ initialize_with_readme: true, ...fields })
    const [developer, maintainer] = await Promise.all([
      this.#world.member({ project }, 'developer'),
      this.#world.member({ project }, 'maintainer'),
    ])
    return new MergeProject(this.#world, project, { developer, maintainer })
  }
}

/** Asks again until something that happens beside the requests has happened. */
export async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it did not happen')
}

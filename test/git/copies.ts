import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { clientEnvironment, git, tryGit, type Told } from '../../src/git/testing.ts'
import type { Json, World } from '../world/world.ts'

export { git, tryGit, type Told }

/** A login as it stands in an address, or nobody. */
export type Login = { username: string; token: string } | undefined

/** Working copies of a suite, in a folder of their own, made and used by the real client. */
export class Copies implements AsyncDisposable {
  readonly folder: string
  readonly #world: World
  #next = 0

  private constructor(world: World, folder: string) {
    this.#world = world
    this.folder = folder
  }

  static async open(world: World): Promise<Copies> {
    return new Copies(world, await mkdtemp(path.join(tmpdir(), 'guildhall-copies-')))
  }

  /** The address of a project for somebody. */
  url(project: Json | string, login?: Login, base = this.#world.url): string {
    const address = new URL(
      `${base}/${typeof project === 'string' ? project : (project['path_with_namespace'] as string)}.git`,
    )
    if (login !== undefined) {
      address.username = login.username
      address.password = login.token
    }
    return address.href
  }

  /** An empty repository whose `origin` is the project. */
  async fresh(project: Json, login?: Login): Promise<string> {
    const folder = path.join(this.folder, `copy-${(this.#next += 1)}`)
    await mkdir(folder)
    await git(folder, 'init', '--quiet')
    await git(folder, 'remote', 'add', 'origin', this.url(project, login))
    return folder
  }

  async clone(project: Json, login?: Login, ...flags: string[]): Promise<string> {
    const folder = path.join(this.folder, `copy-${(this.#next += 1)}`)
    await git(this.folder, 'clone', '--quiet', ...flags, this.url(project, login), folder)
    return folder
  }

  /** Runs the client and tells how it went, whatever that is. */
  try(folder: string, args: readonly string[], env: Record<string, string> = {}): Promise<Told> {
    return tryGit(folder, args, env)
  }

  /** A commit of these files; a file's content is its name by default. */
  async commit(
    folder: string,
    files: string | Readonly<Record<string, string | Buffer>>,
    message?: string,
  ): Promise<string> {
    const contents = typeof files === 'string' ? { [files]: `${files}\n` } : files
    for (const [name, content] of Object.entries(contents)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await writeFile(path.join(folder, name), content)
    }
    await git(folder, 'add', '-A')
    await git(folder, 'commit', '--quiet', '-m', message ?? `Add ${Object.keys(contents).join(', ')}`)
    return git(folder, 'rev-parse', 'HEAD')
  }

  /** A project whose default branch `main` has a first commit, pushed by its creator. */
  async filled(project: Json, login: Login = this.#world.root): Promise<string> {
    const folder = await this.fresh(project, login)
    await this.commit(folder, 'README.md')
    await git(folder, 'push', '--quiet', 'origin', 'main')
    return folder
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

export { clientEnvironment }

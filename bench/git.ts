import { rm } from 'node:fs/promises'
import type { Endpoint } from './endpoints.ts'
import { GitBackend } from './git-backend.ts'
import type { GitClient } from './git-client.ts'
import type { LoadRequest } from './http-load.ts'
import type { Scale } from './options.ts'
import type { Service } from './service.ts'
import { callerToken, shape, special } from './world.ts'

/** Seconds, the best of all tries. */
export interface Transfer {
  readonly what: 'push' | 'clone'
  /** Of the history, for people. */
  readonly size: string
  readonly service: number
  /** Of bare git on the same disk, objects checked as they come in. */
  readonly file: number
  /** Of bare git behind HTTP; undefined where git comes without `http-backend`. */
  readonly http: number | undefined
}

/** What is pushed and cloned. */
export interface History {
  readonly size: string
  readonly commits: number
  /** Files that cannot be compressed, and the bytes of each. */
  readonly large?: { readonly files: number; readonly bytes: number }
  /** Taken by one push each; so many tries there are. */
  readonly projects: readonly number[]
}

/** Many commits of small files; and few of 200 MB. */
export function histories(quick: boolean): History[] {
  const commits = quick ? 4_000 : 20_000
  const many = { size: `${commits.toLocaleString('en')} commits`, commits }
  const [first, second, third, fourth, fifth] = special.pushProjects
  if (quick) return [{ ...many, projects: [first] }]
  return [
    { ...many, projects: [first, second] },
    {
      size: '200 MB',
      commits: 2_000,
      large: { files: 40, bytes: 5_000_000 },
      projects: [third, fourth, fifth],
    },
  ]
}

const user = { name: 'bench', token: callerToken(1) }

/** The path of a project's repository in addresses. */
export function repositoryPath(project: number, { depth, callers }: Scale): string {
  return `/${shape.projectPath(project, depth, callers)}.git`
}

export function repositoryUrl(service: Service, project: number, scale: Scale): string {
  return `http://${user.name}:${user.token}@127.0.0.1:${service.port}${repositoryPath(project, scale)}`
}

export const authorization = `Basic ${Buffer.from(`${user.name}:${user.token}`).toString('base64')}`

/** A project with a hundred branches, and the questions about them. */
export async function advertisements(git: GitClient, service: Service, scale: Scale): Promise<Endpoint[]> {
  const source = await git.bare('branches.git')
  await git.fill(source, 200)
  const branches = Array.from({ length: 100 }, (_, number) => `main~${number}:refs/heads/branch-${number}`)
  const url = repositoryUrl(service, special.branchesProject, scale)
  await git.run(['-C', source, 'push', '--quiet', url, 'main', ...branches])

  const path = repositoryPath(special.branchesProject, scale)
  const refs = (headers: Record<string, string>): LoadRequest => ({
    method: 'GET',
    path: `${path}/info/refs?service=git-upload-pack`,
    headers: { authorization, ...headers },
  })
  const version2 = { 'git-protocol': 'version=2' }
  const list = {
    method: 'POST',
    path: `${path}/git-upload-pack`,
    headers: { authorization, ...version2, 'content-type': 'application/x-git-upload-pack-request' },
    body: '0014command=ls-refs\n00010009peel\n000csymrefs\n0000',
  }
  const asked = [
    { name: 'git-refs-v0', title: 'ref advertisement, 100 branches, v0', requests: [refs({})] },
    { name: 'git-refs-v2', title: 'ref advertisement, v2', requests: [refs(version2)] },
    { name: 'git-ls-refs', title: 'ls-refs of 100 branches, v2', requests: [list] },
  ]
  const steady = asked.map(({ name, title, requests }) => ({
    name: `${name}-steady`,
    title: `${title}, at 500/s`,
    requests,
    rate: 500,
  }))
  return [...asked, ...steady]
}

/** Pushes a history to the service, to a folder and to bare git behind HTTP in turn, and clones it from there. */
export async function transfers(
  git: GitClient,
  service: Service,
  scale: Scale,
  { size, commits, large, projects }: History,
): Promise<Transfer[]> {
  const source = await git.bare(`history-${projects[0]!}.git`)
  await git.fill(source, commits, {}, large)
  await using backend = await GitBackend.start(git, git.folder('served'))
  const times = { push: new Times(), clone: new Times() }
  for (const project of projects) {
    const settings = ['receive.fsckObjects=true', 'http.receivepack=true']
    const file = await git.bare(`plain-${project}.git`, settings)
    await git.bare(`served/${project}.git`, settings)
    const addresses = {
      service: repositoryUrl(service, project, scale),
      file: `file://${file}`,
      ...(backend !== undefined && { http: `${backend.url}/${project}.git` }),
    }
    for (const [kind, url] of Object.entries(addresses)) {
      times.push.add(kind, await git.time(['-C', source, 'push', '--quiet', url, 'main']))
    }
    for (const [kind, url] of Object.entries(addresses)) {
      const target = git.folder(`clone-${kind}-${project}.git`)
      times.clone.add(kind, await git.time(['clone', '--quiet', '--bare', url, target]))
      await rm(target, { recursive: true })
    }
  }
  return (['push', 'clone'] as const).map((what) => ({
    what,
    size,
    service: times[what].best('service')!,
    file: times[what].best('file')!,
    http: times[what].best('http'),
  }))
}

class Times {
  readonly #best = new Map<string, number>()

  add(kind: string, seconds: number): void {
    this.#best.set(kind, Math.min(seconds, this.best(kind) ?? Infinity))
  }

  best(kind: string): number | undefined {
    return this.#best.get(kind)
  }
}

import { apiOf, Figures, type Api, type Figure } from './figures.ts'
import type { GitClient } from './git-client.ts'
import type { Service } from './service.ts'
import { rootToken } from './world.ts'

const folders = 100
const filesEach = 1_000
const changed = 1_000
const pushers = 50

interface Place {
  readonly path: string
  readonly url: string
}

/** Merges, what is said of requests on a tree of 100,000 files, the diff of 1,000 files, and many pushes at once. */
export async function merges(service: Service, git: GitClient, quick: boolean): Promise<Figure[]> {
  const api = apiOf(service)
  const figures = new Figures()
  const many = quick ? 8 : 40

  const small = await project(service, api, 'small')
  await fill(git, small, 'merges-small.git', [
    ...commit('main', [['README', 'x\n']]),
    ...range(many).flatMap((number) => commit(`change-${number}`, [[`file-${number}`, 'x\n']], 'main')),
  ])
  const made = await requests(api, small, range(many))
  await figures.measure('merge a small request', many, (number) => api('PUT', `${made[number]!}/merge`, {}))

  const large = await project(service, api, 'large')
  const tree = range(folders).flatMap((folder) =>
    range(filesEach).map((file): [string, string] => [`folder-${folder}/file-${file}`, 'x\n']),
  )
  const few = quick ? 3 : 10
  await fill(git, large, 'merges-large.git', [
    ...commit('main', tree),
    ...commit('change-0', [['folder-7/file-7', 'y\n']], 'main'),
    ...commit(
      'change-1',
      tree.slice(0, changed).map(([name]) => [name, 'y\n']),
      'main',
    ),
  ])
  const [one, wide] = await requests(api, large, [0, 1])
  const moveTarget = (number: number): Promise<unknown> =>
    api('POST', `${large.path}/repository/files/moved-${number}`, {
      ...{ branch: 'main', content: 'x', commit_message: 'Move on' },
    })
  const files = (folders * filesEach).toLocaleString('en')
  const status = `detailed_merge_status, ${files} files`
  await figures.measure(`${status}, target moved`, few, () => api('GET', one!), moveTarget)
  await figures.measure(`${status}, known`, many, () => api('GET', one!))
  const size = changed.toLocaleString('en')
  await figures.measure(`diff of ${size} files, a page of 100`, few, (number) =>
    api('GET', `${wide!}/diffs?per_page=100&page=${1 + (number % 10)}`),
  )
  await figures.measure(`diff of ${size} files, as one patch`, few, () => api('GET', `${wide!}/raw_diffs`))
  await figures.measure(`diff of ${size} files, all with the request`, few, () =>
    api('GET', `${wide!}/changes`),
  )

  await figures.measure(`${pushers} pushes at once to one project`, quick ? 1 : 3, (time) =>
    Promise.all(
      range(pushers).map((number) =>
        git.run([
          '-C',
          git.folder('merges-small.git'),
          'push',
          '--quiet',
          small.url,
          `main:refs/heads/p-${time}-${number}`,
        ]),
      ),
    ),
  )
  return figures.all
}

const range = (length: number): number[] => Array.from({ length }, (_, number) => number)

async function project(service: Service, api: Api, name: string): Promise<Place> {
  const body = { name: `merges-${name}-${Date.now()}` }
  const { id, path_with_namespace } = (await api('POST', '/projects', body)) as {
    id: number
    path_with_namespace: string
  }
  return {
    path: `/projects/${id}`,
    url: `http://root:${rootToken}@127.0.0.1:${service.port}/${path_with_namespace}.git`,
  }
}

async function fill(git: GitClient, { url }: Place, name: string, stream: readonly string[]): Promise<void> {
  const source = await git.bare(name)
  await git.run(['-C', source, 'fast-import', '--quiet', '--done'], [...stream, 'done\n'])
  await git.run(['-C', source, 'push', '--quiet', url, '--all'])
}

/** One request for each branch, and its address once it is known whether it merges. */
async function requests(api: Api, { path }: Place, numbers: readonly number[]): Promise<string[]> {
  const made: string[] = []
  for (const number of numbers) {
    const body = { source_branch: `change-${number}`, target_branch: 'main', title: `Change ${number}` }
    const { iid } = (await api('POST', `${path}/merge_requests`, body)) as { iid: number }
    made.push(`${path}/merge_requests/${iid}`)
  }
  return made
}

/** A commit for `git fast-import`. */
function commit(branch: string, files: readonly [string, string][], from?: string): string[] {
  return [
    `commit refs/heads/${branch}\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 4\nwork\n`,
    ...(from === undefined ? [] : [`from refs/heads/${from}\n`]),
    ...files.map(([name, content]) => `M 100644 inline ${name}\ndata ${content.length}\n${content}\n`),
  ]
}

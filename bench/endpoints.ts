import type { LoadRequest } from './http-load.ts'
import type { Scale } from './options.ts'
import { callerToken, Dice, firstId, rootToken, shape, special } from './world.ts'

/** One line of the table. */
export interface Endpoint {
  /** For `--only`. */
  readonly name: string
  readonly title: string
  readonly requests: readonly LoadRequest[]
  /** The same questions about a project with 1,000 pipelines. */
  readonly small?: readonly LoadRequest[]
  /** Where the load's usual number is not wanted. */
  readonly connections?: number
  /** Requests a second, where not as many as can be are wanted. */
  readonly rate?: number
}

const variety = 400

/** Requests like those of many people at once: each of another one, about another thing. */
class Requests {
  readonly #dice = new Dice(7)
  readonly #scale: Scale

  constructor(scale: Scale) {
    this.#scale = scale
  }

  /** `path` is relative to the API. */
  get(path: (dice: Dice) => string, token?: string): LoadRequest[] {
    return Array.from({ length: variety }, () => this.#as(path(this.#dice), token ?? this.maintainer()))
  }

  /** About projects chosen at random, asked by somebody who may do everything there. */
  ofProjects(path: (project: number, dice: Dice) => string, body?: string): LoadRequest[] {
    return Array.from({ length: variety }, () => {
      const project = firstId + 1 + this.#dice.below(this.#scale.projects)
      const token = shape.isPersonal(project)
        ? callerToken(shape.ownerOf(project, this.#scale.callers))
        : this.maintainer()
      return this.#as(path(project, this.#dice), token, body)
    })
  }

  anybody(path: string): LoadRequest[] {
    return Array.from({ length: variety }, () =>
      this.#as(path, callerToken(1 + this.#dice.below(this.#scale.callers))),
    )
  }

  post(paths: readonly string[], body: string): LoadRequest[] {
    return paths.map((path) => this.#as(path, this.maintainer(), body))
  }

  /** Somebody who is a Maintainer of the whole tree: every second caller. */
  maintainer(): string {
    return callerToken(1 + 2 * this.#dice.below(Math.floor(this.#scale.callers / 2)))
  }

  #as(path: string, token: string, body?: string): LoadRequest {
    return {
      method: body === undefined ? 'GET' : 'POST',
      path: `/api/v4${path}`,
      headers: { 'private-token': token, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
    }
  }
}

/** One filter each; values that the project has. */
const filters: Readonly<Record<string, (dice: Dice, pipelines: number, callers: number) => string>> = {
  status: (dice) => dice.of(['success', 'failed', 'canceled', 'skipped', 'manual']),
  ref: (dice, pipelines) => dice.of(['main', `feature-${dice.below(shape.refs(pipelines))}`]),
  source: (dice) => dice.of(['push', 'merge_request_event', 'schedule', 'web', 'api']),
  username: (dice, pipelines, callers) => `user${1 + dice.below(shape.pipelineUsers(pipelines, callers))}`,
  sha: (dice, pipelines) => shape.sha(dice.below(pipelines)),
  updated_after: (dice) => new Date(Date.now() - 86_400_000 * (1 + dice.below(360))).toISOString(),
  name: (dice, pipelines) => encodeURIComponent(`Nightly ${dice.below(shape.names(pipelines))}`),
}

/** A list of pipelines, of the large project and of the small one. */
function pipelineLists(requests: Requests, { pipelines, callers }: Scale): Endpoint[] {
  const both = (query: (dice: Dice, pipelines: number) => string): Pick<Endpoint, 'requests' | 'small'> => {
    const of = (project: number, count: number): LoadRequest[] =>
      requests.get((dice) => `/projects/${project}/pipelines${query(dice, count)}`)
    return {
      requests: of(special.bigProject, pipelines),
      small: of(special.smallProject, shape.smallProjectPipelines),
    }
  }
  const deepest = (count: number): number => Math.floor(count / 40)
  const lists: Endpoint[] = [
    { name: 'pipelines', title: 'list pipelines, page 1', ...both(() => '?') },
    {
      name: 'pipelines-deep',
      title: `list pipelines, pages to ${deepest(pipelines).toLocaleString('en')}`,
      ...both((dice, count) => `?page=${deepest(count) - dice.below(Math.ceil(deepest(count) / 2))}`),
    },
    ...Object.entries(filters).map(([filter, value]) => ({
      name: `pipelines-${filter}`,
      title: `list pipelines, by ${filter}`,
      ...both((dice, count) => `?${filter}=${value(dice, count, callers)}`),
    })),
  ]
  return lists.flatMap((list) => [list, neverAsked(list)])
}

/** The load asks the same again and again, which is answered from memory. Here no question has been asked before. */
function neverAsked({ name, title, requests }: Endpoint): Endpoint {
  return {
    name: `${name}-new`,
    title: `${title}, never asked before`,
    requests: requests.map((request) => ({ ...request, path: `${request.path}&unasked={n}` })),
  }
}

/** Everything that is measured request by request. */
export function endpoints(scale: Scale): Endpoint[] {
  const requests = new Requests(scale)
  const { bigProject, variablesProject, pipelineProjects } = special
  const creation = {
    requests: requests.post(
      pipelineProjects.map((project) => `/projects/${project}/pipeline`),
      '{"ref":"main"}',
    ),
  }
  const deepestGroup = shape.groupId(scale.depth - 1, 0)
  const count = (number: number): string => number.toLocaleString('en')
  return [
    { name: 'version', title: 'GET /version', requests: requests.anybody('/version') },
    { name: 'user', title: 'GET /user', requests: requests.anybody('/user') },
    {
      name: 'variable',
      title: 'get one variable',
      requests: [
        ...requests.ofProjects((project, dice) => `/projects/${project}/variables/KEY_${1 + dice.below(10)}`),
        ...requests.get(
          (dice) => `/projects/${variablesProject}/variables/KEY_${1 + dice.below(scale.variables)}`,
        ),
      ],
    },
    {
      name: 'variables',
      title: `list 20 of ${count(scale.variables)} variables`,
      requests: requests.get(
        (dice) => `/projects/${variablesProject}/variables?page=${1 + dice.below(scale.variables / 20)}`,
      ),
    },
    {
      name: 'pipeline',
      title: 'get one pipeline',
      requests: requests.get(
        (dice) => `/projects/${bigProject}/pipelines/${firstId + 1 + dice.below(scale.pipelines)}`,
      ),
    },
    ...pipelineLists(requests, scale),
    {
      name: 'project',
      title: 'get project by id',
      requests: requests.ofProjects((project) => `/projects/${project}`),
    },
    {
      name: 'project-path',
      title: 'get project by path',
      requests: requests.ofProjects(
        (project) =>
          `/projects/${encodeURIComponent(shape.projectPath(project, scale.depth, scale.callers))}`,
      ),
    },
    { name: 'projects', title: 'list my projects', requests: requests.anybody('/projects?membership=true') },
    {
      name: 'members',
      title: `list ${count(scale.members)} group members`,
      requests: requests.get(
        (dice) => `/groups/${shape.groupId(0, 0)}/members?page=${1 + dice.below(scale.members / 20)}`,
      ),
    },
    {
      name: 'members-all',
      title: `members/all, ${count(scale.members)} in ${scale.depth} levels`,
      requests: requests.get(
        (dice) => `/groups/${deepestGroup}/members/all?page=${1 + dice.below(scale.members / 20)}`,
      ),
      connections: 8,
    },
    {
      name: 'protected-branches',
      title: 'list protected branches',
      requests: requests.ofProjects((project) => `/projects/${project}/protected_branches`),
    },
    {
      name: 'settings',
      title: 'read the settings',
      requests: requests.get(() => '/application/settings', rootToken),
      connections: 8,
    },
    {
      name: 'settings-steady',
      title: 'read the settings, at 1,000/s',
      requests: requests.get(() => '/application/settings', rootToken),
      connections: 8,
      rate: 1000,
    },
    {
      name: 'create-variable',
      title: 'create a variable',
      requests: requests.ofProjects(
        (project) => `/projects/${project}/variables`,
        '{"key":"NEW_{n}","value":"of a variable"}',
      ),
    },
    { ...creation, name: 'create-pipeline', title: 'create a pipeline of 20 jobs', connections: 8 },
    {
      ...creation,
      name: 'create-pipeline-steady',
      title: 'create a pipeline of 20 jobs, at 20/s',
      connections: 8,
      rate: 20,
    },
  ]
}

import { expectStatus, type Json, type World } from '../../world/world.ts'
import { idOf, type Cast, type Caller } from './actors.ts'
import type { Row, VisibilityName } from './rows.ts'

/** Where rows play: a project in a group, with everybody let in, and what makes further things there. */
export class Stage {
  readonly cast: Cast
  readonly world: World
  readonly visibility: VisibilityName
  readonly group: Json
  readonly project: Json
  /** Things that rows share, by a name of their own. */
  readonly #shared = new Map<string, Promise<Json>>()

  private constructor(cast: Cast, visibility: VisibilityName, group: Json, project: Json) {
    this.cast = cast
    this.world = cast.world
    this.visibility = visibility
    this.group = group
    this.project = project
  }

  /** `about`: the place that has members of its own. */
  static async set(cast: Cast, visibility: VisibilityName, about: 'project' | 'group', fields: Json = {}): Promise<Stage> {
    const { world } = cast
    const group = await world.group({ visibility })
    const project = await world.project({ visibility, namespace_id: idOf(group), ...fields })
    await cast.letIn(about === 'project' ? `/projects/${idOf(project)}` : `/groups/${idOf(group)}`)
    return new Stage(cast, visibility, group, project)
  }

  get projectPath(): string {
    return `/projects/${idOf(this.project)}`
  }

  get groupPath(): string {
    return `/groups/${idOf(this.group)}`
  }

  /** Made by the administrator `root`, who is nobody of the grid. */
  async make(path: string, body: Json = {}): Promise<Json> {
    return expectStatus(await this.world.root.post(path, body), 201)
  }

  /** Made once for this stage. */
  once(name: string, make: () => Promise<Json>): Promise<Json> {
    const known = this.#shared.get(name) ?? make()
    this.#shared.set(name, known)
    return known
  }

  unique(prefix: string): string {
    return this.world.unique(prefix)
  }
}

/** The stages, each set when a row first needs it. */
export class Stages {
  readonly #cast: Cast
  readonly #set = new Map<string, Promise<Stage>>()

  constructor(cast: Cast) {
    this.#cast = cast
  }

  /** The one that rows of this kind share. */
  shared(row: Row, fields: Json = {}): Promise<Stage> {
    const about = row.path.startsWith('/groups/') ? 'group' : 'project'
    const visibility = row.visibility === '' ? 'private' : row.visibility
    const key = JSON.stringify([about, visibility, fields])
    const known = this.#set.get(key) ?? Stage.set(this.#cast, visibility, about, fields)
    this.#set.set(key, known)
    return known
  }

  /** One that nobody else has, for what changes or ends the place itself. */
  own(row: Row, fields: Json = {}): Promise<Stage> {
    const about = row.path.startsWith('/groups/') ? 'group' : 'project'
    return Stage.set(this.#cast, row.visibility === '' ? 'private' : row.visibility, about, fields)
  }
}

/** A valid request to the endpoint of a row. Path parameters besides `:id` by name. */
export interface Request {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Another place than the shared stage's. */
  readonly stage?: Stage
}

/** Prepares what the condition says, and gives a request with valid parameters. */
export type Prepare = (stage: Stage, caller: Caller, row: Row) => Promise<Request> | Request

export interface Scenario {
  readonly prepare: Prepare
  /** Fields of the stage's project. */
  readonly fields?: Json
  /** A stage that no other row has; set again whenever a call changed something. */
  readonly ownStage?: boolean
  /** Prepared for each caller: it is about them. Otherwise what was prepared serves until a call changes something. */
  readonly forEach?: boolean
}

/** By endpoint as in the grid, then by condition. */
export type Scenarios = Readonly<Record<string, Readonly<Record<string, Prepare | Scenario>>>>

/** A request that needs nothing but the stage. */
export const plain: Prepare = () => ({})

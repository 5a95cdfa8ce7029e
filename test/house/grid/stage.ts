import { expectStatus, type Json, type World } from '../../world/world.ts'
import { idOf, type Cast, type Caller } from './actors.ts'
import type { Row, VisibilityName } from './rows.ts'

/** Where everybody is a direct member. */
export type Place = 'project' | 'group'

export interface StageFields {
  readonly group?: Json
  readonly project?: Json
}

/** Where rows play: a project in a group, with everybody let in, and what makes further things there. */
export class Stage {
  readonly cast: Cast
  readonly world: World
  readonly visibility: VisibilityName
  readonly about: Place
  readonly group: Json
  readonly project: Json
  /** Things that rows share, by a name of their own. */
  readonly #shared = new Map<string, Promise<unknown>>()

  private constructor(
    cast: Cast,
    { about, visibility, group, project }: Pick<Stage, 'about' | 'visibility' | 'group' | 'project'>,
  ) {
    this.cast = cast
    this.world = cast.world
    this.about = about
    this.visibility = visibility
    this.group = group
    this.project = project
  }

  static async set(
    cast: Cast,
    visibility: VisibilityName,
    about: Place,
    fields: StageFields = {},
  ): Promise<Stage> {
    const { world } = cast
    const group = await world.group({ visibility, ...fields.group })
    const project = await world.project({ visibility, namespace_id: idOf(group), ...fields.project })
    await cast.letIn(about === 'project' ? `/projects/${idOf(project)}` : `/groups/${idOf(group)}`)
    return new Stage(cast, { about, visibility, group, project })
  }

  /** Another stage of this kind, changed in one way; one for all who ask for that change. */
  variant(
    name: string,
    change: (stage: Stage) => Promise<unknown>,
    fields: StageFields = {},
  ): Promise<Stage> {
    return this.once(`stage ${name}`, async () => {
      const made = await Stage.set(this.cast, this.visibility, this.about, fields)
      await change(made)
      return made
    })
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
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.#shared.get(name) ?? make()
    this.#shared.set(name, known)
    return known as Promise<T>
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

  /** The one that rows of this visibility share. */
  shared(visibility: VisibilityName | '', about: Place): Promise<Stage> {
    const key = `${about} ${visibility}`
    const known = this.#set.get(key) ?? this.own(visibility, about)
    this.#set.set(key, known)
    return known
  }

  /** One that nobody else has, for what changes or ends the place itself. */
  own(visibility: VisibilityName | '', about: Place): Promise<Stage> {
    return Stage.set(this.#cast, visibility === '' ? 'private' : visibility, about)
  }
}

/** A valid request to the endpoint of a row. Path parameters besides `:id` by name. */
export interface Request {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Another service on the same data. */
  readonly base?: string
  /** Another place than the shared stage's. */
  readonly stage?: Stage
}

/** Prepares what the condition says, and gives a request with valid parameters. */
export type Prepare = (stage: Stage, caller: Caller, row: Row) => Promise<Request> | Request

export interface Scenario {
  readonly prepare: Prepare
  /** Where everybody is let in; by default the group on paths of groups, else the project. */
  readonly about?: Place
  /** A stage that no other row has; set again whenever a call changed something. */
  readonly ownStage?: boolean
  /** Prepared for each caller: it is about them. Otherwise what was prepared serves until a call changes something. */
  readonly forEach?: boolean
  /** A call that is taken is not in the way of the next one: what was prepared serves all callers. */
  readonly lasts?: boolean
  /** Undoes what would be in the way of other rows. */
  readonly after?: (stage: Stage) => Promise<void>
}

/** By endpoint as in the grid, then by condition. */
export type Scenarios = Readonly<Record<string, Readonly<Record<string, Prepare | Scenario>>>>

/** A request that needs nothing but the stage. */
export const plain: Prepare = () => ({})

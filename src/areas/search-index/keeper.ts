import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { ClusterFailure, type Cluster } from './cluster.ts'
import { patience } from './services.ts'
import { aliasOf, bodyOf, countsOf, indexOf, parts, type Generation } from './shape.ts'
import * as store from './store.ts'

export interface KeeperServices {
  readonly db: Database
  readonly settings: Settings
  readonly log: Logger
  readonly cluster: Cluster
}

/** Seconds that an index must have been there before one that is gone is taken for lost. */
const youngest = 5

/**
 * Keeps the indices as the settings want them. What cannot be changed of an index (its shards, what belongs into it,
 * the cluster it lies in) makes a new generation, which is filled while searches still look into the one before.
 */
export class Keeper {
  readonly #services: KeeperServices

  constructor(services: KeeperServices) {
    this.#services = services
  }

  /**
   * The generation to write into; undefined: there is none yet, look again in a moment. Only one may begin one at a
   * time, who holds the first lane: what is left of a beginning that a crash ended is removed.
   */
  async generation({ begins }: { readonly begins: boolean }): Promise<Generation | undefined> {
    const { db, cluster, settings } = this.#services
    // Who looks lets changes be recorded.
    if (!settings.values.elasticsearch_indexing) return undefined
    if (begins) await store.looking(db.writer)
    const state = await store.look(db.writer)
    const another = async (): Promise<Generation | undefined> => {
      if (begins) return this.#begin(state)
      await store.letLook(db.writer)
      return undefined
    }
    if (!state.ready) return state.calm ? another() : undefined
    const names = parts.map((part) => indexOf(state, part))
    const { status, body } = await cluster.call({
      method: 'GET',
      path: `/${names.join(',')}/_settings`,
      timeout: patience(settings),
    })
    if (status === 404) {
      if (state.age < youngest)
        throw new ClusterFailure('the search cluster does not have the index that it made')
      return another()
    }
    if (status >= 300)
      throw new ClusterFailure(`the search cluster answered ${status} about the index`, status)
    const { elasticsearch_shards: shards, elasticsearch_replicas: replicas } = settings.values
    for (const name of names) {
      const counts = countsOf(body, name)
      if (counts === undefined) throw new ClusterFailure('the search cluster says nothing of the index')
      if (counts.shards !== shards) return another()
      if (counts.replicas !== replicas)
        await this.#put(`/${name}/_settings`, { index: { number_of_replicas: replicas } })
    }
    return state
  }

  async #begin(before: Generation): Promise<Generation | undefined> {
    const { db, cluster, settings, log } = this.#services
    const next = { name: before.name, generation: before.generation + 1 }
    for (const part of parts) {
      const path = `/${indexOf(next, part)}`
      const timeout = patience(settings)
      const body = JSON.stringify(bodyOf(part, settings.values))
      const { status } = await cluster.call({ method: 'PUT', path, body, timeout })
      if (status < 300) continue
      await cluster.call({ method: 'DELETE', path, timeout })
      await cluster.do({ method: 'PUT', path, body, timeout })
    }
    if (!(await store.begin(db, before))) return undefined
    log.info(next, 'a search index is filled from the start')
    return next
  }

  /** Lets searches look into a generation that has all that belongs into it; what came before it is removed. */
  async promote(generation: Generation): Promise<void> {
    const { db, cluster, settings, log } = this.#services
    if (!(await store.isFilled(db.reader, generation))) return
    const timeout = patience(settings)
    const mine = `/${generation.name}-*`
    const found = await cluster.do({ method: 'GET', path: `${mine}/_alias`, timeout })
    const names = Object.keys(found as object).filter((name) => name.startsWith(`${generation.name}-`))
    const actions = parts.flatMap((part) => {
      const [index, alias] = [indexOf(generation, part), aliasOf(generation, part)]
      const others = names.filter((name) => name !== index && hasAlias(found, name, alias))
      return [...others.map((other) => ({ remove: { index: other, alias } })), { add: { index, alias } }]
    })
    await cluster.do({ method: 'POST', path: '/_aliases', body: JSON.stringify({ actions }), timeout })
    await store.serve(db.writer, generation)
    log.info(generation, 'searches look into the index')
    const kept = new Set(parts.map((part) => indexOf(generation, part)))
    for (const name of names) {
      if (!kept.has(name))
        await cluster.call({ method: 'DELETE', path: `/${encodeURIComponent(name)}`, timeout })
    }
  }

  async #put(path: string, body: object): Promise<void> {
    const { cluster, settings } = this.#services
    await cluster.do({ method: 'PUT', path, body: JSON.stringify(body), timeout: patience(settings) })
  }
}

function hasAlias(found: unknown, name: string, alias: string): boolean {
  const { aliases } = (found as Record<string, { aliases?: object } | null>)[name] ?? {}
  return aliases !== undefined && Object.hasOwn(aliases, alias)
}

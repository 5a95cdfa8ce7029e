import type { PipelineCreator } from './create-pipeline.ts'
import { mirrorPipeline, settleBridge, tellFollowers } from './downstream-following.ts'
import { BridgeFailure, enterBridge, type BridgeScene, type BridgeServices } from './downstream-scene.ts'
import { startDownstream } from './downstream-start.ts'
import * as store from './downstream-store.ts'

/** Trigger jobs: they start pipelines, or follow them. */
export class Downstream {
  readonly #services: BridgeServices
  readonly #creator: PipelineCreator

  constructor(services: BridgeServices, creator: PipelineCreator) {
    this.#services = services
    this.#creator = creator
  }

  /** Does what a trigger job is there for; done again after a crash it goes on where it was. */
  async run(jobId: number): Promise<void> {
    const { db, process } = this.#services
    const row = await store.findBridge(db.reader, jobId)
    if (row === undefined) return
    try {
      const scene = await enterBridge(this.#services, row)
      await this.#move(row, 'running')
      await this.#act(scene)
    } catch (error) {
      if (!(error instanceof BridgeFailure)) throw error
      if (error.message !== '') await store.noteMessage(db.writer, row.id, error.message)
      await process.drop({ id: row.id, pipelineId: row.pipeline.id }, error.reason, ['pending', 'running'])
    }
    await this.#cancelIfLate(row)
  }

  /** Whatever follows this pipeline is told of its status. */
  follow(pipelineId: number): Promise<void> {
    return tellFollowers(this.#services, pipelineId)
  }

  async #act(scene: BridgeScene): Promise<void> {
    const { row, bridge } = scene
    if (bridge.mirrors !== null && bridge.project === null && bridge.include === null) {
      await mirrorPipeline(this.#services, scene, bridge.mirrors)
    } else if (row.downstream_id === null) {
      await startDownstream(this.#services, this.#creator, scene)
    }
    if (bridge.strategy === null && bridge.mirrors === null) await this.#move(row, 'success')
    else await settleBridge(this.#services, row.id, row.pipeline.id)
  }

  async #move(row: store.BridgeRow, status: 'running' | 'success'): Promise<void> {
    if (row.status === status) return
    await this.#services.process.change(row.pipeline.id, async (tx) => {
      const now = await store.statusOf(tx, row.id)
      const goesOn = now === 'pending' || now === 'running'
      return { result: undefined, changed: goesOn ? await store.setBridge(tx, row.id, status) : [] }
    })
  }

  /** A job that was canceled while its child pipeline came to be takes that along. */
  async #cancelIfLate(row: store.BridgeRow): Promise<void> {
    const { db, process } = this.#services
    const children = await db.transaction(async (tx) => {
      const status = await store.statusOf(tx, row.id)
      return status === 'canceled' ? store.livingChildren(tx, row.pipeline.id, [row.id]) : []
    })
    for (const id of children) await process.cancel(id)
  }
}

import { offer } from './child.ts'
import { load, type LoadOrder, type LoadResult } from './http-load.ts'
import { appends, type AppendsOrder } from './trace-load.ts'
import { Runners, type PushOrder, type PushTimes, type RunnersOrder } from './runners.ts'

/** The process that makes all requests, so that measuring does not hold up what is measured. */
let runners: Runners | undefined

const handlers = {
  http: (order: LoadOrder): Promise<LoadResult> => load(order),
  appends: (order: AppendsOrder): Promise<LoadResult> => appends(order),
  /** Lets runners ask for jobs from now on. */
  async runners(order: RunnersOrder): Promise<void> {
    runners?.stop()
    runners = new Runners(order)
    await runners.settled()
  },
  async push(order: PushOrder): Promise<PushTimes> {
    if (runners === undefined) throw new Error('there are no runners')
    return runners.timePush(order)
  },
  async stopRunners(_: null): Promise<void> {
    runners?.stop()
    runners = undefined
  },
}

export type LoadHandlers = typeof handlers
offer(handlers)

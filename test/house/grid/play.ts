import type { Reply } from '../../world/client.ts'
import { idOf, type Cast, type Caller } from './actors.ts'
import { actorNames, shapeOf, type ActorName, type Row } from './rows.ts'
import { scenarios } from './scenarios/index.ts'
import type { Request, Scenario, Stage, Stages } from './stage.ts'

const byShape = new Map(
  Object.entries(scenarios).map(([endpoint, cases]) => {
    const [method, path] = endpoint.split(' ') as [string, string]
    return [shapeOf(method, path), cases]
  }),
)

export function scenarioOf({ method, path, condition }: Row): Scenario | undefined {
  const found = byShape.get(shapeOf(method, path))?.[condition]
  return typeof found === 'function' ? { prepare: found } : found
}

/** Prepares a row once and calls its endpoint as one caller; `before` is done when all is ready. */
export async function playOnce(
  row: Row,
  stages: Stages,
  caller: Caller,
  before: (stage: Stage) => Promise<void> = async () => undefined,
): Promise<Reply> {
  const scenario = scenarioOf(row)
  if (scenario === undefined) throw new Error(`no scenario for ${row.method} ${row.path}, "${row.condition}"`)
  const about = scenario.about ?? (row.path.startsWith('/groups/') ? 'group' : 'project')
  const stage = await (scenario.ownStage === true
    ? stages.own(row.visibility, about)
    : stages.shared(row.visibility, about))
  try {
    const request = await scenario.prepare(stage, caller, row)
    const place = request.stage ?? stage
    await before(place)
    return await send(row, request, place, caller)
  } finally {
    await scenario.after?.(stage)
  }
}

/** Calls the endpoint of a row as everybody; gives the statuses, and the bodies for whoever looks into a difference. */
export async function play(
  row: Row,
  { cast, stages }: { cast: Cast; stages: Stages },
): Promise<{ statuses: Record<ActorName, number>; replies: Record<ActorName, Reply> }> {
  const scenario = scenarioOf(row)
  if (scenario === undefined) throw new Error(`no scenario for ${row.method} ${row.path}, "${row.condition}"`)
  const about = scenario.about ?? (row.path.startsWith('/groups/') ? 'group' : 'project')
  const replies = {} as Record<ActorName, Reply>
  let stage: Stage | undefined
  let request: Request | undefined
  try {
    for (const caller of cast.callersOf(row)) {
      if (request === undefined || scenario.forEach === true) {
        if (stage === undefined || (scenario.ownStage === true && request === undefined)) {
          stage = await (scenario.ownStage === true
            ? stages.own(row.visibility, about)
            : stages.shared(row.visibility, about))
        }
        request = await scenario.prepare(stage, caller, row)
      }
      const reply = await send(row, request, request.stage ?? stage!, caller)
      replies[caller.name] = reply
      // What was changed is made anew for the next one.
      if (row.method !== 'GET' && reply.status < 300 && scenario.lasts !== true) request = undefined
    }
  } finally {
    if (stage !== undefined) await scenario.after?.(stage)
  }
  const statuses = Object.fromEntries(actorNames.map((name) => [name, replies[name].status])) as Record<
    ActorName,
    number
  >
  return { statuses, replies }
}

function send(row: Row, request: Request, stage: Stage, { client }: Caller): Promise<Reply> {
  const values = {
    id: row.path.startsWith('/groups/') ? idOf(stage.group) : idOf(stage.project),
    ...request.path,
  } as Record<string, string | number>
  const path = row.path.replaceAll(/:(\w+)|\*/g, (_, name: string = '*') => {
    const value = values[name]
    if (value === undefined) throw new Error(`the scenario of ${row.method} ${row.path} gives no ${name}`)
    return encodeURIComponent(value)
  })
  const query = request.query === undefined ? '' : `?${request.query}`
  const address = request.base === undefined ? path + query : `${request.base}/api/v4${path}${query}`
  return client.request(row.method, address, request.body, request.headers)
}

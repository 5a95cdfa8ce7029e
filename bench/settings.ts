import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { databaseOf } from './database.ts'
import { FreshService } from './fresh-service.ts'
import { load, type LoadRequest } from './http-load.ts'
import { freePort, Service } from './service.ts'
import { rootToken, secretKey } from './world.ts'

/*
 * What throttles cost, how fast the settings are read, and how soon a change holds on another node:
 *   npm run bench:settings -- [--seconds <of each turn>] [--turns <with and without>] [--changes <of a setting>] [--only <part>]
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    turns: { type: 'string' },
    changes: { type: 'string' },
    only: { type: 'string' },
  },
})
const seconds = Number(values.seconds ?? 2)
const turns = Number(values.turns ?? 5)
const changes = Number(values.changes ?? 100)
const headers = { 'private-token': rootToken }
const connections = 32

const families = ['api', 'web', 'packages_api', 'files_api', 'git_lfs']
const most = 2 ** 31 - 1

/** Every throttle there is, with room for all that we ask. */
function throttles(on: boolean): Record<string, unknown> {
  const rows = ['authenticated', 'unauthenticated'].flatMap((who) =>
    families.map((family) => `throttle_${who}_${family}`),
  )
  return Object.assign(
    {},
    ...rows.map((name) => ({
      [`${name}_enabled`]: on,
      [`${name}_requests_per_period`]: most,
      [`${name}_period_in_seconds`]: 60,
    })),
  ) as Record<string, unknown>
}

async function put(service: Service, body: object): Promise<void> {
  const reply = await fetch(`${service.url}/api/v4/application/settings`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (reply.status !== 200) throw new Error(`the settings were refused: ${await reply.text()}`)
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

/** In turns, so that both see the same machine. */
async function measureThrottles(service: Service, paths: Readonly<Record<string, string>>): Promise<void> {
  console.log(`${'throttles'.padEnd(24)}${'off/s'.padStart(9)}${'on/s'.padStart(9)}   ratio`)
  for (const [name, address] of Object.entries(paths)) {
    if (values.only !== undefined && !name.includes(values.only)) continue
    const requests: LoadRequest[] = [{ method: 'GET', path: `/api/v4${address}`, headers }]
    const rates = { off: [] as number[], on: [] as number[] }
    for (let turn = 0; turn < turns; turn += 1) {
      for (const state of turn % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
        await put(service, throttles(state === 'on'))
        const { rate, errors } = await load({ port: service.port, connections, seconds, requests })
        if (Object.keys(errors).length > 0) throw new Error(`${name}: ${JSON.stringify(errors)}`)
        rates[state].push(rate)
      }
    }
    const [off, on] = [median(rates.off), median(rates.on)]
    const ratio = (on / off).toFixed(2).padStart(8)
    console.log(`${name.padEnd(24)}${off.toFixed(0).padStart(9)}${on.toFixed(0).padStart(9)}${ratio}`)
  }
  await put(service, throttles(false))
}

async function measureReading(service: Service): Promise<void> {
  const requests: LoadRequest[] = [{ method: 'GET', path: '/api/v4/application/settings', headers }]
  await load({ port: service.port, connections: 1, seconds, requests })
  for (const busy of [1, 8]) {
    const { rate, p50, p99 } = await load({ port: service.port, connections: busy, seconds, requests })
    console.log(
      `settings, ${busy} connections: ${rate.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    )
  }
}

/** From before the change is sent to one node until the other one acts by it. */
async function measureEffect(one: Service, other: Service): Promise<void> {
  const times: number[] = []
  for (let change = 0; change < changes; change += 1) {
    const text = `Contact: mailto:${change}@example.com`
    const begun = performance.now()
    const answered = put(one, { security_txt_content: text })
    for (;;) {
      const seen = await (await fetch(`${other.url}/.well-known/security.txt`)).text()
      if (seen === text) break
      if (performance.now() - begun > 60_000) throw new Error('the change had no effect')
      await sleep(1)
    }
    times.push(performance.now() - begun)
    await answered
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): string => sorted[Math.floor((sorted.length - 1) * part)]!.toFixed(1)
  console.log(`change to effect on another node: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`)
}

await using one = await FreshService.start({ ROLES: 'web' })
const { directory } = one
const { user, password, host, port, database } = await databaseOf(directory)
// By its socket.
const DATABASE_URL = `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
await using other = new Service(await freePort(), {
  directory,
  environment: { ROOT_TOKEN: rootToken, SECRET_KEY: secretKey, ROLES: 'web', DATABASE_URL },
})
await other.ready()
const { id: project } = await one.make<{ id: number }>('/projects', { name: 'app' })
for (let key = 0; key < 20; key += 1) {
  await one.make(`/projects/${project}/variables`, { key: `KEY_${key}`, value: 'x' })
}
await measureThrottles(one, {
  'one project': `/projects/${project}`,
  'list of variables': `/projects/${project}/variables`,
  'list of pipelines': `/projects/${project}/pipelines`,
  oneself: '/user',
})
await measureReading(one)
await measureEffect(one, other)

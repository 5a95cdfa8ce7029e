import type { Service } from '../app/service.ts'
import { readConfig } from '../kernel/config/index.ts'
import { createLogger } from '../kernel/log/index.ts'
import { giveBackMemory } from './give-back.ts'
import { explain } from './trouble.ts'

/** Milliseconds after which those who waited for the start have been served. */
const settledAfter = 5_000

export async function serve({ roles }: { roles?: string }): Promise<void> {
  const config = readConfig(roles === undefined ? process.env : { ...process.env, ROLES: roles })
  const log = createLogger(config.logLevel)
  const stop = stopSignal()
  // Loaded once it is known to be wanted: what is wrong with the configuration is told at once.
  const { openUpToDate } = await import('../app/database.ts')
  // The database starts in processes of its own, and the rest is loaded meanwhile, which leaves no time for starting it.
  const launched = Promise.withResolvers<unknown>()
  const opening = openUpToDate(config, log, () => launched.resolve(undefined))
  await Promise.race([launched.promise, opening.catch(() => undefined)])
  let service: Service
  try {
    const { startService } = await import('../app/service.ts')
    service = await startService(config, log, opening)
  } catch (error) {
    throw explain(error, config)
  }
  await using _service = service
  process.stdout.write(welcome(service, config.rootToken))
  setTimeout(giveBackMemory, settledAfter).unref()
  await stop
  log.info('stopping')
}

/** Resolves at the first signal; a second one ends the program as it usually does. */
function stopSignal(): Promise<unknown> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
  })
}

function welcome({ externalUrl, firstCredentials: made }: Service, rootToken: string | undefined): string {
  const api = `${externalUrl}/api/v4`
  const token = made?.token ?? (rootToken === undefined ? '<your token>' : '$ROOT_TOKEN')
  const lines = [
    '',
    `Guildhall is ready at ${externalUrl}`,
    ...(made === undefined ? [] : ['', `Token of the administrator root, shown this once: ${made.token}`]),
    ...(made?.password === undefined
      ? []
      : [`Password of root for ${externalUrl}/users/sign_in, shown this once: ${made.password}`]),
    '',
    'Try:',
    `  curl -H "PRIVATE-TOKEN: ${token}" ${api}/user`,
    `  curl -H "PRIVATE-TOKEN: ${token}" -d name=hello -d initialize_with_readme=true ${api}/projects`,
    `  git clone http://root:${token}@${new URL(externalUrl).host}/root/hello.git`,
    '',
    ...(token === '<your token>' ? ['No token at hand? npx guildhall token create --user root', ''] : []),
    `All endpoints: ${externalUrl}/-/api`,
    '',
  ]
  return `${lines.join('\n')}\n`
}

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { liftLimits } from './limits.ts'
import { freePort, Service, type ServiceOptions } from './service.ts'
import { rootToken, secretKey } from './world.ts'

/** A service with a new folder and without limits on calls; the folder goes with it. */
export class FreshService extends Service {
  readonly directory: string

  private constructor(port: number, options: ServiceOptions) {
    super(port, options)
    this.directory = options.directory
  }

  /** Ready; `environment` adds to what lets `rootToken` in. */
  static async start(environment: ServiceOptions['environment'] = {}): Promise<FreshService> {
    await using stack = new AsyncDisposableStack()
    const directory = await freshFolder(stack)
    const options = {
      directory,
      environment: { ROOT_TOKEN: rootToken, SECRET_KEY: secretKey, ...environment },
    }
    const service = stack.use(new FreshService(await freePort(), options))
    await service.ready()
    await liftLimits(service, rootToken)
    stack.move()
    return service
  }

  /** What POST made, as the administrator. */
  async make<T extends object>(address: string, body: object): Promise<T> {
    const reply = await fetch(`${this.url}/api/v4${address}`, {
      method: 'POST',
      headers: { 'private-token': rootToken, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await reply.json()) as T
    if (reply.status !== 201) throw new Error(`POST ${address}: ${reply.status} ${JSON.stringify(answer)}`)
    return answer
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await remove(this.directory)
  }
}

/** A folder that goes with the stack. */
export async function freshFolder(stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'guildhall-bench-'))
  stack.defer(() => remove(directory))
  // The database may run as another user, who has to pass through.
  await chmod(directory, 0o711)
  return directory
}

function remove(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 5 })
}

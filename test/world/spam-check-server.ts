import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerErrorResponse,
  type ServerUnaryCall,
} from '@grpc/grpc-js'
import { service } from '../../src/areas/spam/spamcheck.ts'
import type { SelfSigned } from './self-signed.ts'
import type { Json } from './world.ts'

export interface Verdict {
  readonly verdict?: 'ALLOW' | 'CONDITIONAL_ALLOW' | 'DISALLOW' | 'BLOCK' | 'NOOP' | number
  readonly error?: string
  readonly extraAttributes?: Readonly<Record<string, string>>
}

type Call = ServerUnaryCall<Json, Verdict>
type Failure = Pick<ServerErrorResponse, 'code' | 'details'>

/** Says what is spam. */
export class SpamCheckServerOfTests implements AsyncDisposable {
  readonly asked: { readonly method: string; readonly key: unknown; readonly message: Json }[] = []
  /** `never`: the caller waits in vain. */
  says: (message: Json) => Verdict | { readonly fails: Failure } | 'never' = () => ({})
  readonly port: number
  readonly #server: Server

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
  }

  static async open(identity?: SelfSigned): Promise<SpamCheckServerOfTests> {
    const server = new Server()
    const handle =
      (method: string) =>
      ({ request, metadata }: Call, done: sendUnaryData<Verdict>): void => {
        opened.asked.push({ method, key: metadata.get('authorization')[0], message: request })
        const answer = opened.says(request)
        if (answer === 'never') return
        if ('fails' in answer) done({ ...answer.fails, name: 'Error', message: 'Error' })
        else done(null, answer)
      }
    const methods = Object.keys(service)
    server.addService(service, Object.fromEntries(methods.map((method) => [method, handle(method)])))
    const credentials =
      identity === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [
            { private_key: Buffer.from(identity.key), cert_chain: Buffer.from(identity.certificate) },
          ])
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      )
    })
    const opened = new SpamCheckServerOfTests(server, port)
    return opened
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown()
    return Promise.resolve()
  }
}

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Json } from './world.ts'

interface Answer {
  readonly status?: number
  readonly text: string
  readonly location?: string
}

interface Asked {
  /** Of the call, as `chat.postMessage`. */
  readonly method: string
  readonly authorization: string | undefined
  readonly fields: Json
}

/** A small chat platform: an app is installed at it, and says things in its channels. */
export class ChatPlatform implements AsyncDisposable {
  readonly url: string
  readonly asked: Asked[] = []
  /** What it says instead; undefined: it hangs up. */
  says: ((method: string) => Answer | undefined) | undefined
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  }

  static async open(): Promise<ChatPlatform> {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        const method = (request.url ?? '').replace('/api/', '')
        const { authorization, 'content-type': type = '' } = request.headers
        const fields = type.includes('json')
          ? (JSON.parse(body) as Json)
          : Object.fromEntries(new URLSearchParams(body))
        platform.asked.push({ method, authorization, fields })
        const answer = platform.says === undefined ? usual(method) : platform.says(method)
        if (answer === undefined) return request.socket.destroy()
        const { status = 200, location } = answer
        return response.writeHead(status, location === undefined ? {} : { location }).end(answer.text)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const platform = new ChatPlatform(server)
    return platform
  }

  /** What was said in the channels. */
  get messages(): Json[] {
    return this.asked.filter(({ method }) => method === 'chat.postMessage').map(({ fields }) => fields)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function usual(method: string): Answer {
  const installed = {
    access_token: 'bot-token',
    bot_user_id: 'B1',
    scope: 'commands,chat:write',
    team: { id: 'T1', name: 'The <house>' },
  }
  return { text: JSON.stringify({ ok: true, ...(method === 'oauth.v2.access' && installed) }) }
}

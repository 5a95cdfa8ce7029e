import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { offer } from './child.ts'

/** Files over HTTP with nothing around them: what the registry is measured against. */
const handlers = {
  /** Serves one file; what is PUT goes into it. Answers the port. */
  async serve(file: string): Promise<number> {
    const server = createServer((request, response) => {
      const answered =
        request.method === 'PUT'
          ? pipeline(request, createWriteStream(file)).then(() => response.writeHead(201).end())
          : stat(file).then(({ size }) => {
              response.writeHead(200, { 'content-length': size })
              return pipeline(createReadStream(file), response)
            })
      answered.catch(() => response.destroy())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
}

export type BareFiles = typeof handlers
offer(handlers)

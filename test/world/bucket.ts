import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What the client asks of a store that speaks like S3: whole objects, objects in parts, ranges. */
export class Bucket {
  readonly objects = new Map<string, Buffer>()
  readonly #parts = new Map<string, Map<number, Buffer>>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  /** Signed requests; others are refused. */
  signed = 0

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://store')
    const body = await buffer(request)
    if (!/^AWS4-HMAC-SHA256 Credential=key\//.test(request.headers.authorization ?? '')) {
      response.writeHead(403).end()
      return
    }
    this.signed += 1
    const upload = url.searchParams.get('uploadId')
    const xml = (text: string): void =>
      void response.writeHead(200, { 'content-type': 'application/xml' }).end(text)
    if (request.method === 'POST' && upload === null) {
      const id = `upload-${this.signed}`
      this.#parts.set(id, new Map())
      xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    } else if (request.method === 'PUT' && upload !== null) {
      this.#parts.get(upload)!.set(Number(url.searchParams.get('partNumber')), body)
      response.writeHead(200, { etag: '"part"' }).end()
    } else if (request.method === 'POST' && upload !== null) {
      const parts = [...this.#parts.get(upload)!].toSorted(([a], [b]) => a - b).map(([, part]) => part)
      this.objects.set(url.pathname, Buffer.concat(parts))
      xml('<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>')
    } else if (request.method === 'PUT') {
      this.objects.set(url.pathname, body)
      response.writeHead(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` }).end()
    } else if (request.method === 'DELETE') {
      this.objects.delete(url.pathname)
      response.writeHead(204).end()
    } else this.#send(request, response, this.objects.get(url.pathname))
  }

  #send(request: IncomingMessage, response: ServerResponse, object: Buffer | undefined): void {
    if (object === undefined) {
      response.writeHead(404).end()
      return
    }
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const part = start === undefined ? object : object.subarray(Number(start), Number(end) + 1)
    response.writeHead(start === undefined ? 200 : 206, { 'content-length': part.length })
    response.end(request.method === 'HEAD' ? undefined : part)
  }
}

import { request as open, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'
import type { World } from './world.ts'

export interface SiteReply {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** Asks the service for an address of a site, whose names no resolver knows; nothing is followed. */
export async function visit(
  world: World,
  address: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<SiteReply> {
  const { host, pathname, search } = new URL(address)
  return visitRaw(world, host, pathname + search, { method, headers })
}

/** The same for a path as it stands, which `URL` would tidy. */
export async function visitRaw(
  world: World,
  host: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<SiteReply> {
  const { hostname, port } = new URL(world.url)
  const { promise, resolve, reject } = Promise.withResolvers<SiteReply>()
  open({ hostname, port, method, path, headers: { ...headers, host } })
    .on('response', (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode!, headers: response.headers, text: body.toString() }),
        reject,
      )
    })
    .on('error', reject)
    .end()
  return promise
}

/** Files in a zip as jobs upload it; `links`: symbolic links and where they lead. */
export async function siteArchive(
  files: Readonly<Record<string, string | Buffer>>,
  links: Readonly<Record<string, string>> = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new ZipFile()
  for (const [path, content] of Object.entries(files)) archive.addBuffer(Buffer.from(content), path)
  for (const [path, target] of Object.entries(links))
    archive.addBuffer(Buffer.from(target), path, { mode: 0o120777 })
  archive.end()
  return new Uint8Array(await buffer(archive.outputStream))
}

import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { invalidParameters, tooLarge } from '../errors/index.ts'
import { limits, tooMany } from './json-body.ts'
import { parseNested } from './nested-params.ts'
import { UploadedFile } from './types.ts'

export interface MultipartOptions {
  /** Without one, files are passed over. */
  takeFile?: TakeFile | undefined
  /** Bytes of all texts together; 1 MiB unless told. */
  fieldBytes?: number
  /** Bytes of one file; without bound unless told. */
  fileBytes?: number
  /** Texts and files together; as many as parameters unless told. */
  parts?: number
}

/**
 * Takes a file in; what it gives becomes `UploadedFile.stored`. It gives undefined, not a promise, for a file nobody
 * asked for. When the upload fails `content` is destroyed with the error: whoever took half a file then throws it away.
 */
export type TakeFile = (
  name: string,
  content: Readable,
  file: { filename: string; contentType: string },
) => Promise<unknown> | undefined

/**
 * The bag of a multipart form, its files handed to `takeFile` as they come, never held in memory. Waits for all takers,
 * also when it fails. Throws 400 for a body that is malformed or breaks off, 413 beyond the limits, and what a taker
 * threw; the rest of the request is then left unread.
 */
export async function readMultipart(
  request: Readable & { headers: IncomingHttpHeaders },
  { takeFile, fieldBytes = 1024 * 1024, fileBytes = Infinity, parts = limits.total }: MultipartOptions = {},
): Promise<Record<string, unknown>> {
  const parser = makeParser(request.headers, Math.max(fieldBytes, fileBytes), parts)
  const pairs: [string, unknown][] = []
  const taking: Promise<void>[] = []
  const open = new Set<Readable>()
  const { promise: parsed, resolve, reject } = Promise.withResolvers<undefined>()

  const fail = (error: Error) => {
    reject(error)
    request.unpipe(parser)
    for (const content of open) content.destroy(error)
  }
  const broken = () => fail(malformed())
  const closed = () => {
    if (!request.readableEnded) broken()
  }

  let texts = 0
  const count = (bytes: number) => {
    texts += bytes
    if (texts > fieldBytes) throw tooLarge()
  }

  // Every part comes as a file (see makeParser); one without a file name is a text, and a form that chose no file
  // sends an empty name.
  parser.on(
    'file',
    (name: string | undefined, content, filename: string | undefined, _encoding, contentType) => {
      content.on('error', () => undefined)
      content.on('limit', () => fail(tooLarge()))
      const take = async (): Promise<unknown> => {
        if (name === undefined || filename === '') return undefined
        if (filename === undefined) return readText(name, content, count)
        const taken = takeFile?.(name, content, { filename, contentType })
        if (taken === undefined) return undefined
        const stored = await taken
        // The parser's limit is that of the larger kind of part.
        if (content.bytesRead > fileBytes) throw tooLarge()
        return new UploadedFile(filename, contentType, content.bytesRead, stored)
      }
      const pair: [string, unknown] = [name ?? '', undefined]
      pairs.push(pair)
      open.add(content)
      const done = take().then((value) => {
        pair[1] = value
        open.delete(content)
        content.resume()
      })
      done.catch(fail)
      taking.push(done)
    },
  )
  parser.on('filesLimit', () => fail(tooMany()))
  parser.on('error', broken)
  parser.on('finish', () => resolve(undefined))
  request.on('error', broken)
  request.on('close', closed)
  try {
    if (request.destroyed) closed()
    else request.pipe(parser)
    await parsed
    await Promise.all(taking)
  } finally {
    await Promise.allSettled(taking)
    request.off('error', broken)
    request.off('close', closed)
  }
  return parseNested(pairs.filter(([, value]) => value !== undefined))
}

const malformed = () => invalidParameters(['Invalid multipart body'])

function makeParser(headers: IncomingHttpHeaders, fileSize: number, files: number) {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: { fileSize, files, headerPairs: 100, headerSize: 16 * 1024 },
      // As texts the parser would decode them for us, and hide what is not valid UTF-8.
      isPartAFile: () => true,
    })
  } catch {
    throw malformed()
  }
}

async function readText(name: string, content: Readable, count: (bytes: number) => void): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of content as AsyncIterable<Buffer>) {
    count(chunk.length)
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  if (!isUtf8(bytes)) throw invalidParameters([`${name} is invalid`])
  return bytes.toString('utf8')
}

import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'

/** One file as a multipart form, read anew for every attempt. */
export async function fileForm(file: string, name: string) {
  const boundary = `guildhall-${randomUUID()}`
  const safeName = name.replace(/["\\\r\n]/g, '_')
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${safeName}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const { size } = await stat(file)
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + size + tail.length),
    },
    body: () =>
      Readable.from(
        (async function* () {
          yield head
          yield* createReadStream(file) as AsyncIterable<Buffer>
          yield tail
        })(),
        { objectMode: false },
      ),
  }
}

import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** A gzipped tar of these files, the same each time. */
export async function tarball(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name, mtime: new Date(0) }, content)
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk)
  return gzipSync(Buffer.concat(chunks))
}

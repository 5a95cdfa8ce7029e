import { gunzipSync, gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** A gzipped tar of these files; a link where the content says so. */
export async function tarOf(
  files: Readonly<Record<string, string | Buffer | { readonly linkTo: string }>>,
): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) {
    if (typeof content === 'string' || Buffer.isBuffer(content)) tar.entry({ name }, content)
    else tar.entry({ name, type: 'symlink', linkname: content.linkTo })
  }
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar as unknown as AsyncIterable<Buffer>) chunks.push(chunk)
  return gzipSync(Buffer.concat(chunks))
}

/** A small file that unpacks to one of so many mebibytes. */
export async function bombOf(mebibytes: number): Promise<Buffer> {
  const whole = await tarOf({ 'large.bin': 'x' })
  const header = Buffer.from(gunzipSync(whole).subarray(0, 512))
  header.write((mebibytes * 1024 * 1024).toString(8).padStart(11, '0'), 124, 'latin1')
  // The sum of all bytes, as if the sum itself were blanks.
  header.fill(' ', 148, 156)
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
    'latin1',
  )
  const zeros = gzipSync(Buffer.alloc(1024 * 1024))
  return Buffer.concat([gzipSync(header), ...Array.from({ length: mebibytes + 1 }, () => zeros)])
}

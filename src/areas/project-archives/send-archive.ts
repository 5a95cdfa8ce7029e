import { Fields, OneOf, Text, type Static } from '../../kernel/endpoint/index.ts'
import type { ArchiveRoom } from './services.ts'

export const Upload = Fields(
  {
    url: Text({
      blank: false,
      maxLength: 4096,
      description: 'Address, with what lets in whoever sends to it',
    }),
    http_method: OneOf(['PUT', 'POST'], { default: 'PUT' }),
  },
  { description: 'Where the archive is sent when it is made; the export fails where it is not taken' },
)
type Upload = Static<typeof Upload>

/** Milliseconds for the whole file. */
const patience = 3_600_000
const context = 'project_exports.upload'

type Room = Pick<ArchiveRoom, 'outbound' | 'blobs' | 'cipher'>

export function sealUpload({ cipher }: Pick<Room, 'cipher'>, { url, http_method }: Upload): string {
  return cipher.seal(JSON.stringify({ url, http_method }), context)
}

/** Sends a stored archive to where its sealed upload says; rejects unless the other side has taken it. */
export async function sendArchive(
  { outbound, blobs, cipher }: Room,
  sealed: string,
  { digest, size }: { readonly digest: string; readonly size: number },
): Promise<void> {
  const { url, http_method: method } = JSON.parse(cipher.open(sealed, context)) as Upload
  const body = blobs.read(digest)
  try {
    const signal = AbortSignal.timeout(patience)
    const headers = { 'content-type': 'application/gzip', 'content-length': String(size) }
    const answer = await outbound.exchange(url, { method, headers, body, signal }, async ({ status }) => ({
      status,
    }))
    if ('blocked' in answer) throw new Error(`The archive could not be sent: ${answer.blocked}`)
    if (answer.status < 200 || answer.status >= 300)
      throw new Error(`The archive could not be sent: the other side answered with ${answer.status}`)
  } finally {
    // Nobody has read it where the address was blocked.
    body.destroy()
  }
}

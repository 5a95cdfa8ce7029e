import type { ArchiveRoom } from './services.ts'

/** Where an archive goes when it is made. */
export interface Upload {
  readonly url: string
  readonly http_method: 'PUT' | 'POST'
}

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
  const answer = await outbound.exchange(
    url,
    {
      method,
      headers: { 'content-type': 'application/gzip', 'content-length': String(size) },
      body: blobs.read(digest),
      signal: AbortSignal.timeout(patience),
    },
    async ({ status }) => ({ status }),
  )
  if ('blocked' in answer) throw new Error(`The archive could not be sent: ${answer.blocked}`)
  if (answer.status < 200 || answer.status >= 300)
    throw new Error(`The archive could not be sent: the other side answered with ${answer.status}`)
}

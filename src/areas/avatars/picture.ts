import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Either, File, OneOf, Optional } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'

/** A picture somebody has sent, looked at and found good. */
export interface Picture {
  readonly content: Buffer
  readonly contentType: string
  /** SHA-256 in hex. */
  readonly digest: string
  /** Changes with the content, so that the address of a picture always leads to the same one. */
  readonly filename: string
}

/** What a picture begins with tells its kind; what the sender calls it does not count. SVG may hold scripts. */
const kinds: readonly {
  readonly type: string
  readonly extension: string
  readonly begins: (content: Buffer) => boolean
}[] = [
  { type: 'image/png', extension: 'png', begins: startsWith('\x89PNG\r\n\x1A\n') },
  { type: 'image/jpeg', extension: 'jpg', begins: startsWith('\xFF\xD8\xFF') },
  { type: 'image/gif', extension: 'gif', begins: startsWith('GIF87a', 'GIF89a') },
  { type: 'image/bmp', extension: 'bmp', begins: startsWith('BM') },
  { type: 'image/tiff', extension: 'tiff', begins: startsWith('II*\0', 'MM\0*') },
  { type: 'image/vnd.microsoft.icon', extension: 'ico', begins: startsWith('\0\0\x01\0') },
  {
    type: 'image/webp',
    extension: 'webp',
    begins: (content) => startsWith('RIFF')(content) && startsWith('WEBP')(content.subarray(8)),
  },
]

function startsWith(...texts: readonly string[]): (content: Buffer) => boolean {
  return (content) => texts.some((text) => content.subarray(0, text.length).toString('latin1') === text)
}

/** The parameter `avatar`; an empty text takes the picture away. */
export const avatarParam = {
  avatar: Optional(
    Either(
      File<Picture>({ description: 'A picture of at most 200 KiB, in a multipart form' }),
      OneOf([''], { description: 'Takes the picture away' }),
    ),
  ),
}

/** Takes the file of `avatar` in, which is small enough to be held in memory; 400 for what is larger or no picture. */
export function takeAvatar(name: string, content: Readable): Promise<Picture> | undefined {
  return name === 'avatar' ? takePicture(name, content, { bytes: 200 * 1024, called: '200 KiB' }) : undefined
}

/** Takes in the picture that is sent as `field`. */
export async function takePicture(
  field: string,
  content: Readable,
  largest: { readonly bytes: number; readonly called: string },
): Promise<Picture> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of content as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > largest.bytes) throw invalid({ [field]: [`is too big (should be at most ${largest.called})`] })
    chunks.push(chunk)
  }
  return lookAt(field, Buffer.concat(chunks, size))
}

function lookAt(field: string, content: Buffer): Picture {
  const kind = kinds.find(({ begins }) => begins(content))
  if (kind === undefined) {
    const supported = kinds.map(({ type }) => type).join(', ')
    throw invalid({
      [field]: [
        `file format is not supported. Please try one of the following supported formats: ${supported}`,
      ],
    })
  }
  const digest = createHash('sha256').update(content).digest('hex')
  return { content, contentType: kind.type, digest, filename: `${digest.slice(0, 16)}.${kind.extension}` }
}

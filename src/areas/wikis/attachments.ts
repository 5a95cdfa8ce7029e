import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Actor } from '../../access/index.ts'
import type { RequestFacts } from '../../kernel/endpoint/index.ts'
import { readFileForm } from '../../kernel/endpoint/file-form.ts'
import { badRequest, invalidParameters, refused } from '../../kernel/errors/index.ts'
import { controlCharacters } from '../../kernel/lib/control-characters.ts'
import {
  branchRef,
  commitBlob,
  parseFilePath,
  resolve,
  storeBlob,
  type FilePath,
  type RefName,
  type StoredBlob,
} from '../../git/index.ts'
import { branchOf, signatureOf, type WikiCommits } from './commit.ts'
import type { WikiDoor } from './door.ts'
import type { Wiki } from './store.ts'

export interface Attachment {
  readonly file_name: string
  readonly file_path: string
  readonly branch: string
  readonly link: { readonly url: string; readonly markdown: string }
}

const longestName = 255

/** Takes the file of a multipart form into the wiki as it comes, and commits it. */
export async function attach(
  { commits, door, largest }: { commits: WikiCommits; door: WikiDoor; largest: () => number },
  wiki: Wiki,
  actor: Actor,
  request: RequestFacts,
): Promise<Attachment> {
  const repository = await door.open(wiki)
  await using stack = new AsyncDisposableStack()
  const put = async (content: Readable): Promise<StoredBlob> =>
    stack.use(await storeBlob(repository, content))
  const { file, fields } = await readFileForm(request, put, { fileBytes: largest() })
  const { branch } = fields
  if (branch !== undefined && typeof branch !== 'string') throw invalidParameters(['branch is invalid'])
  const blob = file.stored
  const ref = await branchNamed(branch)
  const { name, path } = placeFor(file.filename)
  const signature = signatureOf(actor)
  const message = `Upload attachment ${name}`
  await commits.bring(wiki, actor, blob.quarantine, 'Could not upload the attachment', () =>
    commitBlob(repository, blob, { branch: ref, path, author: signature, committer: signature, message }),
  )
  const markdown = link(name, path)
  return {
    file_name: name,
    file_path: path,
    branch: ref.slice('refs/heads/'.length),
    link: { url: path, markdown },
  }

  async function branchNamed(wanted: string | undefined): Promise<RefName> {
    const present = branchOf(wiki)
    if (wanted === undefined || wanted === '') return present
    const ref = branchRef(wanted)
    if (ref === present) return present
    const found = ref === undefined ? undefined : await resolve(repository, ref)
    if (ref === undefined || found === undefined) throw badRequest('The branch does not exist')
    return ref
  }
}

/** A folder of its own for each attachment, so that names never meet. */
function placeFor(sent: string): { name: string; path: FilePath } {
  const name = attachmentName(sent)
  const path = parseFilePath(`uploads/${randomBytes(16).toString('hex')}/${name}`)
  if (path === undefined) throw badRequest('The file name is invalid')
  return { name, path }
}

/** Browsers of old sent whole paths. What no file system takes becomes `_`; what is too long is cut before its end. */
export function attachmentName(sent: string): string {
  const last = sent.split(/[/\\]/).at(-1) ?? ''
  const name = last.toWellFormed().replaceAll(controlCharacters, '_').trim()
  if (name === '' || /^\.+$/.test(name)) throw refused(400, 'The file name cannot be empty')
  if (Buffer.byteLength(name) <= longestName) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot <= 32 ? name.slice(dot) : ''
  let stem = extension === '' ? name : name.slice(0, dot)
  while (Buffer.byteLength(stem + extension) > longestName) stem = Array.from(stem).slice(0, -1).join('')
  return stem + extension
}

const shown = /\.(?:png|jpe?g|gif|bmp|tiff|ico|webp|svg|avif|mp4|m4v|mov|webm|ogv|mp3|oga|ogg|spx|wav)$/i

function link(name: string, path: string): string {
  const escape = (text: string): string => text.replaceAll(/[\\[\]]/g, String.raw`\$&`)
  const address = encodeURI(path).replaceAll(/[()#?]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  if (!shown.test(name)) return `[${escape(name)}](${address})`
  return `![${escape(name.replace(/\.[^.]*$/, ''))}](${address})`
}

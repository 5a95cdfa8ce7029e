import { badRequest } from '../../../kernel/errors/index.ts'

export const checksums = ['md5', 'sha1', 'sha256', 'sha512'] as const
export type Checksum = (typeof checksums)[number]

/** What a path in a Maven repository names. */
export interface MavenFile {
  /** Group and artifact: `com/acme/app`. */
  readonly name: string
  /** Null: a file about all versions. */
  readonly version: string | null
  readonly fileName: string
  /** Not the file itself is meant, but this digest of it. */
  readonly checksum: Checksum | undefined
}

const part = /^[\w.+~-]+$/

/** Undefined for what no file lies under. */
export function mavenFile(path: string): MavenFile | undefined {
  const parts = path.split('/')
  if (path.length > 1000 || parts.some((one) => !part.test(one) || /^\.+$/.test(one) || one.includes('..')))
    return undefined
  const last = parts.pop()!
  const [, plain, checksum] = /^(.+)\.(md5|sha1|sha256|sha512)$/.exec(last) ?? [undefined, last, undefined]
  const file = { fileName: plain, checksum: checksum as Checksum | undefined }
  if (file.fileName.length > 255) return undefined
  // Of a snapshot there is one for its builds; the other one tells which versions there are.
  const ofAll = file.fileName === 'maven-metadata.xml' && parts.at(-1)?.endsWith('-SNAPSHOT') !== true
  const version = ofAll ? null : (parts.pop() ?? null)
  return parts.length < 2 || (!ofAll && version === null)
    ? undefined
    : { ...file, version, name: parts.join('/') }
}

export function publishedFile(path: string): MavenFile {
  const file = mavenFile(path)
  if (file === undefined) throw badRequest('file_path is invalid')
  return file
}

import { badRequest, refused } from '../../../kernel/errors/index.ts'
import type { StoredFile } from '../content.ts'

/** As installers compare names (PEP 503). */
export const normalized = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-')

export const isName = (name: string): boolean =>
  name.length <= 255 && /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name)

/** PEP 440, with the spellings that it lets pass. */
const versionForm =
  /^v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$/i

const fileForm = /^[A-Za-z0-9][\w.+!-]*\.(?:whl|tar\.gz|tar\.bz2|zip|egg)$/

export interface Distribution {
  readonly name: string
  readonly version: string
  readonly fileName: string
  readonly requiresPython: string | null
}

function text(fields: Readonly<Record<string, unknown>>, name: string, longest: number): string | undefined {
  const value = fields[name]
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string' || value.length > longest) throw badRequest(`${name} is invalid`)
  return value
}

/** What an upload says it is, its digests held against the content. */
export function distributionOf(
  fields: Readonly<Record<string, unknown>>,
  fileName: string,
  stored: StoredFile,
): Distribution {
  const [name, version] = [text(fields, 'name', 255), text(fields, 'version', 255)]
  if (name === undefined || !isName(name)) throw badRequest('name is invalid')
  if (version === undefined || !versionForm.test(version)) throw badRequest('version is invalid')
  if (fileName.length > 255 || !fileForm.test(fileName) || fileName.includes('..'))
    throw badRequest('The name of the file is invalid')
  for (const [field, digest] of [
    ['md5_digest', stored.md5],
    ['sha256_digest', stored.digest],
  ] as const) {
    const told = text(fields, field, 255)
    if (told !== undefined && told.toLowerCase() !== digest)
      throw badRequest(`${field} is not that of the file`)
  }
  return { name, version, fileName, requiresPython: text(fields, 'requires_python', 255) ?? null }
}

export const alreadyThere = (): Error => refused(400, 'Validation failed: File name has already been taken')

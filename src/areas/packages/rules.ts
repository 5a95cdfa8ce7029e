import { badRequest } from '../../kernel/errors/index.ts'

const longest = 255

/** What a file is published as. */
export interface Published {
  readonly name: string
  readonly version: string
  readonly fileName: string
}

/** Refuses names that a generic package, its version or its file cannot have. */
export function checkNames({ name, version, fileName }: Published): void {
  if (!isPart(name, /^[A-Za-z0-9._-]+$/)) throw badRequest('package_name is invalid')
  if (!isPart(version, /^[\w+.-]+$/)) throw badRequest('package_version is invalid')
  if (!isFileName(fileName)) throw badRequest('file_name is invalid')
}

/** No text that some program could take for a way out of its folder. */
function isPart(text: string, form: RegExp): boolean {
  return text.length <= longest && form.test(text) && !text.includes('..') && text !== '.'
}

/** Folders keep the names that they have where they come from. */
function isFileName(text: string): boolean {
  if (text.length > longest || !/^[A-Za-z0-9._\-+~@/]+$/.test(text) || /^[~@]|[~@]$/.test(text)) return false
  return text.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

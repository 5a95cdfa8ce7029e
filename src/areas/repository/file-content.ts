import { parseFilePath, type FilePath } from '../../git/index.ts'
import { invalidParameters } from '../../kernel/errors/index.ts'

/** The bytes of a `content` that was sent as text or in base64; what is no base64 is refused under its name. */
export function contentOf(content: string, encoding: 'text' | 'base64', parameter: string): Buffer {
  if (encoding === 'text') return Buffer.from(content)
  const compact = content.replaceAll(/\s+/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.replaceAll('=', '').length % 4 === 1) {
    throw invalidParameters([`${parameter} is invalid`])
  }
  return Buffer.from(compact, 'base64')
}

/** The path of a file that is to be written; other texts are refused under the parameter's name. */
export function filePathOf(text: string, parameter: string): FilePath {
  const path = parseFilePath(text)
  if (path === undefined) throw invalidParameters([`${parameter} should be a valid file path`])
  return path
}

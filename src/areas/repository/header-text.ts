import { controlCharacters } from '../../kernel/lib/control-characters.ts'

/**
 * A text as the value of a header: its UTF-8 bytes, one character each as Node wants them. What ends a line or is no
 * visible character stands as `%XX`.
 */
export function headerText(text: string): string {
  return Buffer.from(text).toString('latin1').replaceAll(controlCharacters, encodeURIComponent)
}

/** `Content-Disposition` with a name in both spellings: for old clients, and exact. */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["%\\]/g, '_')
  const exact = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${exact}`
}

/** Pictures, sound and film that browsers show without running anything; others are only kept by them. */
const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  webp: 'image/webp',
  avif: 'image/avif',
  mp4: 'video/mp4',
  webm: 'video/webm',
  ogv: 'video/ogg',
  mp3: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
}

const longestName = 255

/** A name that is safe in paths, addresses and Markdown: letters, digits, `.`, `-` and `_`; anything else is `_`. */
export function fileName(sent: string): string {
  const last = sent.split(/[/\\]/).at(-1) ?? ''
  const name = last
    .toWellFormed()
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/^\.+/, '_')
  if (Buffer.byteLength(name) <= longestName) return name === '' ? 'file' : name
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? ''
  let stem = name.slice(0, name.length - extension.length)
  while (Buffer.byteLength(stem + extension) > longestName) stem = Array.from(stem).slice(0, -1).join('')
  return stem + extension
}

/** Whether a file that was uploaded can have this name. */
export const isFileName = (name: string): boolean => fileName(name) === name

/** Undefined: not to be shown. */
export function contentTypeOf(filename: string): string | undefined {
  return types[/\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '']
}

/** What stands for a file where it cannot be seen: the name of a picture has no ending. */
export function altOf(filename: string): string {
  return contentTypeOf(filename) === undefined ? filename : filename.replace(/(.)\.[^.]*$/, '$1')
}

export function markdownOf(filename: string, url: string): string {
  const link = `[${altOf(filename)}](${url})`
  return contentTypeOf(filename) === undefined ? link : `!${link}`
}

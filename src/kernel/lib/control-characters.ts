/** C0 and DEL: what neither a file name, a header nor a line of text may hold. For `replaceAll` and `matchAll`. */
export const controlCharacters = /[\u0000-\u001f\u007f]/g // eslint-disable-line no-control-regex

export function hasControlCharacters(text: string): boolean {
  return text.search(controlCharacters) !== -1
}

/** How a chat wants text that others wrote, and links. */
export interface Style {
  readonly plain: (text: string) => string
  /** `text` is plain already. */
  readonly link: (url: string, text: string) => string
}

/** Nobody is called by what somebody wrote into a title. */
const quiet = (text: string): string => text.replaceAll('@', '@\u200b')

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string, which: RegExp): string => text.replace(which, (found) => entities[found]!)

/** What would end a link early. */
const inLink = (url: string): string =>
  url.replace(/[()<>|"\s]/g, (found) => `%${found.charCodeAt(0).toString(16).padStart(2, '0')}`)

export const markdown: Style = {
  plain: (text) => quiet(text).replace(/[\\`*_[\]()<>~|#]/g, '\\$&'),
  link: (url, text) => `[${text}](${inLink(url)})`,
}

export const marked: Style = {
  plain: (text) => escaped(quiet(text), /[&<>]/g),
  link: (url, text) => `<${inLink(url)}|${text.replaceAll('|', '¦')}>`,
}

export const html: Style = {
  plain: (text) => escaped(quiet(text), /[&<>"]/g),
  link: (url, text) => `<a href="${inLink(url).replaceAll('&', '&amp;')}">${text}</a>`,
}

/** Formats that a caller may choose, each with the extension that its new files get. */
export const extensions = { markdown: 'md', rdoc: 'rdoc', asciidoc: 'asciidoc', org: 'org' } as const
export type PageFormat = keyof typeof extensions
export const pageFormats = Object.keys(extensions) as [PageFormat, ...PageFormat[]]

/** Every extension that makes a file a page; those of the other formats come by git only. */
const formatOf: Readonly<Record<string, string>> = {
  md: 'markdown',
  mkd: 'markdown',
  mkdn: 'markdown',
  mdown: 'markdown',
  markdown: 'markdown',
  rdoc: 'rdoc',
  adoc: 'asciidoc',
  ad: 'asciidoc',
  asciidoc: 'asciidoc',
  org: 'org',
  textile: 'textile',
  creole: 'creole',
  rest: 'rest',
  rst: 'rest',
  mediawiki: 'mediawiki',
  wiki: 'mediawiki',
  txt: 'plaintext',
}

/** What the path of a file tells of the page in it. */
export interface PageName {
  readonly slug: string
  readonly title: string
  readonly format: string
  /** With its dot. */
  readonly extension: string
}

const attachment = /^uploads\/[0-9a-f]{32}\//

/** Undefined: no page. Attachments are none, whatever they are called. */
export function pageName(path: string): PageName | undefined {
  const dot = path.lastIndexOf('.')
  if (dot <= path.lastIndexOf('/') + 1 || attachment.test(path)) return undefined
  const extension = path.slice(dot)
  const format = formatOf[extension.slice(1).toLowerCase()]
  if (format === undefined) return undefined
  const slug = path.slice(0, dot).replaceAll(' ', '-')
  return { slug, title: slug.replaceAll('-', ' '), format, extension }
}

/** `docs/setup` gives `docs` and `setup`; what lies at the root has the folder ``. */
export function splitPath(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf('/')
  return { folder: path.slice(0, Math.max(0, slash)), name: path.slice(slash + 1) }
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

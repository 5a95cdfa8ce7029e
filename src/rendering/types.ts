/** The languages that become HTML; everything else is shown as it is. */
export const languages = ['markdown', 'asciidoc', 'org', 'rdoc', 'plaintext'] as const
export type Language = (typeof languages)[number]

/** What renders depend on besides the text; all of it belongs to the key under which they are kept. */
export interface RenderContext {
  /** Scheme and host of this service, without a slash at the end. */
  readonly baseUrl: string
  /** Where relative addresses lead; without it they stay. */
  readonly links?: LinkPlaces | undefined
  /** Addresses of files that were uploaded to the place of the text, written `/uploads/...`, begin with it. */
  readonly uploads?: string | undefined
  /** `[[Page]]` is a link. */
  readonly wikiLinks?: boolean | undefined
  /** The block of YAML that a text begins with is left out, not shown. */
  readonly hideFrontMatter?: boolean | undefined
  /** What AsciiDoc may include, by path from the root. */
  readonly includes?: Readonly<Record<string, string>> | undefined
  readonly settings: RenderSettings
}

export interface LinkPlaces {
  /** Addresses of pages begin with it. */
  readonly page: string
  /** Addresses of other files begin with it. */
  readonly file: string
  /** The folder of the text, from the root; `` for the root. */
  readonly folder: string
  /** Behind the address of a file: `?version=...`. */
  readonly fileQuery?: string | undefined
}

/** The instance settings that renders depend on. */
export interface RenderSettings {
  /** Changed to have everything rendered anew. */
  readonly version: number
  readonly asciidocMaxIncludes: number
  readonly assetProxy?:
    { readonly url: string; readonly key: string; readonly allowed: readonly string[] } | undefined
  /** Address of the UML renderer. */
  readonly uml?: string | undefined
  readonly diagrams?: { readonly url: string; readonly formats: readonly string[] } | undefined
}

export interface RenderInput {
  readonly text: string
  readonly language: Language
  readonly context: RenderContext
}

export const referenceKinds = [
  'user',
  'project',
  'commit',
  'issue',
  'merge_request',
  'label',
  'milestone',
  'snippet',
  'epic',
] as const
export type ReferenceKind = (typeof referenceKinds)[number]

/** A place in a text that may mean something: `acme/app#7`. */
export interface Candidate {
  readonly kind: ReferenceKind
  /**
   * Of the project or group it is said of, as it was written; with a slash before it where it is surely the whole path.
   * Undefined: where the text stands.
   */
  readonly path?: string | undefined
  /** The name, number or SHA. */
  readonly id: string
}

/** What a candidate was found to mean. */
export interface ResolvedReference {
  readonly href: string
  readonly title?: string
  /** As it is shown; by default as it was written. */
  readonly text?: string
}

export type Resolved = Readonly<Record<string, ResolvedReference>>

export function candidateKey({ kind, path = '', id }: Candidate): string {
  return `${kind}\n${path}\n${id}`
}

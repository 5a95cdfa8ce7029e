import type { Actor, ProjectSubject } from '../../access/index.ts'
import type { Candidate, Language, LinkPlaces, Renderer, RenderSettings } from '../../rendering/index.ts'
import type { Settings, SettingValues } from '../../settings/index.ts'
import {
  namedThings,
  resolveReferences,
  type NamedThing,
  type ReferenceServices,
  type TextPlace,
} from './references/index.ts'

export interface TextServices extends ReferenceServices {
  readonly renderer: Renderer
  readonly settings: Settings
}

export interface TextToRender {
  readonly text: string
  readonly language: Language
  /** Who will read it; without one references stay text. */
  readonly reader?: Actor | undefined
  /** The project or group that the text belongs to. */
  readonly place?: TextPlace | undefined
  readonly links?: LinkPlaces | undefined
  /** A page of a wiki. */
  readonly wiki?: boolean
  readonly readFile?: ((path: string) => Promise<string | undefined>) | undefined
}

/** Texts as readers see them: by the instance's settings, with what they may see linked. For every area. */
export class Texts {
  readonly #services: TextServices

  constructor(services: TextServices) {
    this.#services = services
  }

  render({ text, language, reader, place, links, wiki = false, readFile }: TextToRender): Promise<string> {
    const { renderer, settings, externalUrl } = this.#services
    const context = {
      baseUrl: externalUrl(),
      links,
      uploads: place && `${externalUrl()}/api/v4/${place.kind}s/${place.id}/uploads`,
      wikiLinks: wiki,
      hideFrontMatter: wiki,
      settings: renderSettings(settings.values),
    }
    return renderer.render(
      { text, language, context },
      {
        readFile,
        ...(reader !== undefined && {
          resolve: (candidates) => resolveReferences(this.#services, reader, place, candidates),
        }),
      },
    )
  }

  /** Markdown of a project, where files are named as seen from its default branch; without a project of none. */
  renderMarkdown(
    text: string,
    reader: Actor | undefined,
    project: Pick<ProjectSubject, 'kind' | 'id' | 'fullPath' | 'defaultBranch'> | undefined,
  ): Promise<string> {
    const code = project && `${this.#services.externalUrl()}/${project.fullPath}/-`
    const branch = project?.defaultBranch ?? 'HEAD'
    return this.render({
      text,
      language: 'markdown',
      reader,
      place: project,
      ...(code !== undefined && {
        links: { page: `${code}/blob/${branch}`, file: `${code}/raw/${branch}`, folder: '' },
      }),
    })
  }

  /** What a text in Markdown names, outside of code, of what its writer may see. */
  async namedIn(text: string, writer: Actor, place: TextPlace): Promise<NamedThing[]> {
    if (!/[#!$&]\d|:\/\//.test(text)) return []
    let found: readonly Candidate[] = []
    const { renderer, settings, externalUrl } = this.#services
    const context = {
      baseUrl: externalUrl(),
      wikiLinks: false,
      hideFrontMatter: false,
      settings: renderSettings(settings.values),
    }
    await renderer.render(
      { text, language: 'markdown', context },
      {
        resolve: async (candidates) => {
          found = candidates
          return {}
        },
      },
    )
    return namedThings(this.#services, writer, place, found)
  }
}

function renderSettings(values: SettingValues): RenderSettings {
  const { asset_proxy_enabled, asset_proxy_url, asset_proxy_secret_key, asset_proxy_allowlist } = values
  const { umlrender_enabled, umlrender_url, diagramrender_enabled, diagramrender_url } = values
  const formats = Object.entries(values.diagramrender_formats)
    .filter(([, on]) => on)
    .map(([name]) => name)
  return {
    version: values.local_markdown_version,
    asciidocMaxIncludes: values.asciidoc_max_includes,
    ...(asset_proxy_enabled &&
      asset_proxy_url !== null &&
      asset_proxy_secret_key !== null && {
        assetProxy: {
          url: asset_proxy_url,
          key: asset_proxy_secret_key,
          allowed: asset_proxy_allowlist,
        },
      }),
    ...(umlrender_enabled && umlrender_url !== null && { uml: umlrender_url }),
    ...(diagramrender_enabled &&
      diagramrender_url !== null && { diagrams: { url: diagramrender_url, formats } }),
  }
}

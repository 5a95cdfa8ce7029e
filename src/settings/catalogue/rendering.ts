import { Fields, Flag, Int, ListOf, Nullable, Optional, Text } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

/** How text becomes HTML, wikis, and what is attached. */
export const renderingSettings = {
  wiki_page_max_content_bytes: setting(Int({ minimum: 1024, description: 'In bytes' }), 50 * 1024 * 1024, {
    about: 'Largest content of a wiki page.',
    effect: 'A larger one is refused when it is written through the API.',
  }),
  max_attachment_size: setting(Int({ minimum: 1, description: 'In MiB' }), 100, {
    about: 'Largest uploaded attachment.',
    effect: 'A larger one is answered 413.',
  }),
  asciidoc_max_includes: setting(Int({ minimum: 0, maximum: 64 }), 32, {
    about: 'Include directives that one AsciiDoc document may have processed.',
    effect: 'Further includes stay links.',
  }),
  local_markdown_version: setting(Int({ minimum: 0, maximum: 65_535 }), 0, {
    about: 'Version of rendered text that is kept.',
    effect: 'After a change everything is rendered anew.',
  }),
  asset_proxy_enabled: setting(Flag(), false, {
    about: 'Whether images, audio and video of other hosts come through the asset proxy.',
    effect: 'Their sources are rewritten to signed addresses of the proxy.',
  }),
  asset_proxy_url: setting(Nullable(Text()), null, {
    about: 'Address of the asset proxy.',
    effect: 'Rewritten sources begin with it.',
  }),
  asset_proxy_secret_key: setting(Nullable(Text()), null, {
    about: 'Key shared with the asset proxy, sealed; it is never shown.',
    effect: 'Signs the rewritten sources.',
  }),
  asset_proxy_allowlist: setting(ListOf(Text()), [], {
    about: 'Hosts whose media are left alone, with `*` for any part; the own host always is.',
    effect: 'Sources at these hosts are not rewritten.',
  }),
  umlrender_enabled: setting(Flag(), false, {
    about: 'Whether `plantuml` blocks become images.',
    effect: 'Such a block is an image of the renderer at `umlrender_url`.',
  }),
  umlrender_url: setting(Nullable(Text()), null, {
    about: 'Address of the UML renderer.',
    effect: 'Images of `plantuml` blocks come from it.',
  }),
  diagramrender_enabled: setting(Flag(), false, {
    about: 'Whether blocks of diagram languages become images.',
    effect: 'Such a block is an image of the renderer at `diagramrender_url`.',
  }),
  diagramrender_url: setting(Nullable(Text()), null, {
    about: 'Address of the diagram renderer.',
    effect: 'Images of diagram blocks come from it.',
  }),
  diagramrender_formats: setting(
    Fields({ blockdiag: Optional(Flag()), bpmn: Optional(Flag()), excalidraw: Optional(Flag()) }),
    { blockdiag: false, bpmn: false, excalidraw: false },
    {
      about: 'Kinds of diagrams that the renderer knows only with further parts.',
      effect: 'Blocks of a kind that is off stay code.',
    },
  ),
  diagrams_enabled: setting(Flag(), true, {
    about: 'Whether editors of text offer the diagram editor.',
    effect: 'Clients read it; what is rendered does not change.',
  }),
  diagrams_url: setting(Nullable(Text()), 'https://embed.diagrams.net', {
    about: 'Address of the diagram editor.',
    effect: 'Clients open it; what is rendered does not change.',
  }),
}

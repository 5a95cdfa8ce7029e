import { plainUrl, rendererUrl, urlWithoutMarkup } from '../formats.ts'
import { bytes, flag, int, list, secret, textOrNull } from '../kinds.ts'
import { switches } from '../objects.ts'

/** How text becomes HTML, wikis, and what is attached. */
export const renderingSettings = {
  local_markdown_version: int(
    0,
    'Version of rendered text that is kept. After a change everything is rendered anew.',
    { min: 0, max: 65_535, tooLarge: 'must be less than 65536', strict: true },
  ),
  asset_proxy_enabled: flag(
    false,
    'Whether images, audio and video of other hosts come through the asset proxy. Their sources are rewritten to signed addresses of the proxy.',
    { strict: true },
  ),
  asset_proxy_url: textOrNull(null, 'Address of the asset proxy. Rewritten sources begin with it.', {
    format: plainUrl,
  }),
  asset_proxy_secret_key: secret(
    'Key shared with the asset proxy, sealed; it is never shown. Signs the rewritten sources.',
  ),
  asset_proxy_allowlist: list(
    [],
    'Hosts whose media are left alone, with `*` for any part; the own host always is. Sources at these hosts are not rewritten.',
    { commas: true },
  ),
  umlrender_enabled: flag(
    false,
    'Whether `plantuml` blocks become images. Such a block is an image of the renderer at `umlrender_url`.',
    { strict: true, vendor: 'plantuml_enabled' },
  ),
  umlrender_url: textOrNull(null, 'Address of the UML renderer. Images of `plantuml` blocks come from it.', {
    vendor: 'plantuml_url',
  }),
  diagrams_enabled: flag(
    true,
    'Whether editors of text offer the diagram editor. Clients read it; what is rendered does not change.',
    { strict: true, vendor: 'diagramsnet_enabled', needs: 'diagram editor' },
  ),
  diagrams_url: textOrNull(
    'https://embed.diagrams.net',
    'Address of the diagram editor. Clients open it; what is rendered does not change.',
    { format: urlWithoutMarkup, vendor: 'diagramsnet_url', needs: 'diagram editor' },
  ),
  diagramrender_enabled: flag(
    false,
    'Whether blocks of diagram languages become images. Such a block is an image of the renderer at `diagramrender_url`.',
    { strict: true, vendor: 'kroki_enabled' },
  ),
  diagramrender_url: textOrNull(
    null,
    'Address of the diagram renderer. Images of diagram blocks come from it.',
    { format: rendererUrl, vendor: 'kroki_url' },
  ),
  asciidoc_max_includes: int(
    32,
    'Include directives that one AsciiDoc document may have processed. Further includes stay links.',
    { min: 0, max: 64 },
  ),
  wiki_page_max_content_bytes: bytes(
    52_428_800,
    'Largest content of a wiki page. A larger one is refused when it is written through the API.',
    { min: 1024, strict: true },
  ),
  diff_max_patch_bytes: int(
    204_800,
    'Bytes of the patch of one file that are shown. A larger patch is left out, and its file marked `too_large`.',
    { min: 204_800, max: 512_000 },
  ),
  diff_max_files: int(1000, 'Files of one diff that are shown. Those beyond are left out.', {
    min: 1000,
    max: 3000,
  }),
  diff_max_lines: int(
    50_000,
    'Lines of one diff that are shown. The patches beyond are left out, and their files marked `too_large`.',
    { min: 50_000, max: 100_000 },
  ),
  max_attachment_size: int(100, 'Largest uploaded attachment, in MiB. A larger one is answered 413.', {
    min: 1,
    strict: true,
  }),
  diagramrender_formats: switches(
    ['blockdiag', 'bpmn', 'excalidraw'],
    { blockdiag: false, bpmn: false, excalidraw: false },
    'Kinds of diagrams that the renderer knows only with further parts. Blocks of a kind that is off stay code.',
    { vendor: 'kroki_formats' },
  ),
  math_rendering_limits_enabled: flag(true, 'Limits the size of rendered formulas.', { recorded: true }),
}

import { convert, Extensions, IncludeProcessor, NullLogger } from '@asciidoctor/core'
import { numberQuickly } from './asciidoc-ids.ts'
import { resolveInclude } from './asciidoc-includes.ts'

numberQuickly()

/**
 * AsciiDoc in its secure mode: nothing is read, nothing of the machine is shown. What may be included was read before
 * and stands in `files`, by path from the root; anything else, and what is beyond `limit`, stays a link.
 */
export async function renderAsciidoc(
  source: string,
  { files, folder, limit }: { files: Readonly<Record<string, string>>; folder: string; limit: number },
): Promise<string> {
  let left = limit
  const registry = Extensions.create('includes', function (this: Registering) {
    this.includeProcessor(
      class extends IncludeProcessor {
        override handles(): boolean {
          return true
        }

        override process(_document: unknown, reader: Reading, target: string): void {
          const file = resolveInclude(folder, target)
          const content = file === undefined || !Object.hasOwn(files, file) ? undefined : files[file]
          if (content === undefined || left <= 0) {
            reader.pushInclude(`link:${target}[role=include,${target}]`, target, target, 1, {})
            return
          }
          left -= 1
          reader.pushInclude(content, file, target, 1, {})
        }
      },
    )
  })
  const html: unknown = await convert(source, {
    safe: 'secure',
    backend: 'html5',
    standalone: false,
    extension_registry: registry,
    logger: new NullLogger(),
    attributes: {
      showtitle: '',
      sectanchors: null,
      icons: null,
      'source-highlighter': null,
      'max-attribute-value-size': '4096',
      'allow-uri-read': null,
      'idprefix@': '',
      'idseparator@': '-',
      env: 'web',
    },
  })
  return typeof html === 'string' ? html : ''
}

interface Registering {
  includeProcessor(processor: typeof IncludeProcessor): unknown
}

interface Reading {
  pushInclude(data: string, file: string | undefined, path: string, line: number, attributes: object): unknown
}

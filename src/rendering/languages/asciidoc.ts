import path from 'node:path/posix'
import { convert, Extensions, IncludeProcessor, NullLogger } from '@asciidoctor/core'

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

/** A path from the root, or undefined for what lies outside of it. */
export function resolveInclude(folder: string, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined
  const joined = path.normalize(path.join(target.startsWith('/') ? '' : folder, target)).replace(/^\/+/, '')
  return joined === '' || joined === '.' || joined.startsWith('..') ? undefined : joined
}

/** The targets of the include directives of a text. */
export function includesOf(source: string): string[] {
  return [...source.matchAll(/^include::([^\s[\]][^[\]\n]{0,1000})\[[^\n]*\]\s*$/gm)].map(
    ([, target]) => target!,
  )
}

// Puts the program into a few files.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { beginMaking, bundle as folder, endMaking } from '../bin/made.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Packages of hundreds of files each, that do not ask where they lie. Others are read from where npm put them. */
const taken = /^(typebox|kysely)(\/|$)/

/** Sources find their neighbours as if they still lay where they do. */
const places = {
  name: 'places',
  transform: {
    filter: { code: /import\.meta\./ },
    handler(code, id) {
      const from = path.relative(folder, id).split(path.sep).join('/')
      return code
        .replaceAll('import.meta.url', `new URL(${JSON.stringify(from)}, import.meta.url).href`)
        .replaceAll(
          'import.meta.dirname',
          `(import.meta.dirname + ${JSON.stringify(`/${path.posix.dirname(from)}`)})`,
        )
    },
  },
}

export async function bundle() {
  beginMaking(folder)
  const { rolldown } = await import('rolldown')
  const program = await rolldown({
    cwd: root,
    input: 'src/main.ts',
    platform: 'node',
    tsconfig: false,
    treeshake: false,
    transform: { target: 'esnext' },
    external: (id) =>
      /^[^./]/.test(id) && !path.isAbsolute(id) && !taken.test(id) && !id.startsWith('@oxc-project/'),
    plugins: [places],
  })
  const { output } = await program.write({ dir: folder, format: 'esm', chunkFileNames: '[name].js' })
  const files = output
    .flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
    .map((id) => path.relative(root, id))
    .filter((file) => /^(bin|src|migrations)\b/.test(file))
  endMaking(folder, files)
}

// Makes the bundle that `bin/bundle.js` tells of, under any Node that npm runs with.
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { folder, sources, stateOf } from '../bin/bundle.js'

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

try {
  // First what says that the others can be used.
  await rm(sources, { force: true })
  await rm(folder, { recursive: true, force: true })
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
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
  const { output } = await bundle.write({ dir: folder, format: 'esm', chunkFileNames: '[name].js' })
  const files = output
    .flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
    .map((id) => path.relative(root, id))
    .filter((file) => /^(src|migrations)\b/.test(file))
  // What npm installed is known by the lock.
  const states = [...files, 'package-lock.json'].map((file) => [file, stateOf(file)])
  await writeFile(sources, JSON.stringify(Object.fromEntries(states)))
} catch (error) {
  // The sources do as well.
  console.warn(`guildhall starts from its sources, which takes longer: ${error.message}`)
}

import { readdirSync } from 'node:fs'
import path from 'node:path'

/** What pages load: each script with the others that it imports, by names like `places/issue.js`. */
export type Scripts = Readonly<Record<string, { readonly code: string; readonly imports: readonly string[] }>>

const folder = path.join(import.meta.dirname, 'browser')

/** The sources, as paths below the folder of this file. */
export function sourcesOfScripts(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `browser/${file.split(path.sep).join('/')}`)
}

/** Puts the modules in `browser/` together for browsers: a script for each page, and what several share once. */
export async function buildScripts(): Promise<Scripts> {
  const { rolldown } = await import('rolldown')
  const pages = sourcesOfScripts().filter((file) => /^browser\/(?:places|pages)\//.test(file))
  await using build = await rolldown({
    cwd: import.meta.dirname,
    input: Object.fromEntries(pages.map((file) => [file.slice('browser/'.length, -'.ts'.length), file])),
    platform: 'browser',
    tsconfig: false,
    transform: { target: 'es2023' },
  })
  const { output } = await build.generate({
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
  })
  const chunks = output.filter((chunk) => chunk.type === 'chunk')
  return Object.fromEntries(chunks.map(({ fileName, code, imports }) => [fileName, { code, imports }]))
}

// The program in a few files: `npm ci` makes them of the sources, for finding and reading two thousand takes most of a
// start. Whoever changes a source runs the sources, until `npm run bundle`.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

export const folder = path.join(root, 'node_modules/.cache/guildhall/bundle')
/** Of what the bundle was made: files below the root, each with its state then. */
export const sources = path.join(folder, 'sources.json')

/** Differs once a file has changed. */
export function stateOf(file) {
  const { size, mtimeMs } = statSync(path.join(root, file))
  return `${size} ${mtimeMs}`
}

/** The program of the bundle; undefined where there is none, or one of other sources than these. */
export function bundledProgram() {
  try {
    const states = Object.entries(JSON.parse(readFileSync(sources, 'utf8')))
    if (states.every(([file, state]) => stateOf(file) === state)) return path.join(folder, 'main.js')
  } catch {
    // Nothing was made here, or a source is gone.
  }
  return undefined
}

// What `npm ci` makes on this machine of the sources, so that no start has to. Each thing notes of which sources it is:
// once one of them has changed, it is passed over, until `npm run prepare`.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const made = path.join(root, 'node_modules/.cache/guildhall')

/** The program in a few files, for finding and reading two thousand takes most of a start. */
export const bundle = path.join(made, 'bundle')
/** Data of PostgreSQL with all tables and nobody's rows, for making those takes most of a first start. */
export const database = path.join(made, 'database')
/** The scripts of the pages, put together for browsers: what does that takes memory, and time of the first visitor. */
export const scripts = path.join(made, 'scripts')

/** Differs once a file, given by its path below the root, has changed. */
function stateOf(file) {
  const { size, mtimeMs } = statSync(path.join(root, file))
  return `${size} ${mtimeMs}`
}

/** Data of PostgreSQL, for one, is of use on this kind of machine only. */
const machine = `${process.platform} ${process.arch}`

/** Says first of all that what lies there is not to be used. */
export function beginMaking(folder) {
  rmSync(`${folder}.json`, { force: true })
  rmSync(folder, { recursive: true, force: true })
}

/** Says last of all of which files it was made. What npm installed is known by the lock. */
export function endMaking(folder, files) {
  const states = [...files, 'package-lock.json'].map((file) => [file, stateOf(file)])
  writeFileSync(`${folder}.json`, JSON.stringify({ machine, files: Object.fromEntries(states) }))
}

/** Whether it was made, here, and of these very sources. */
export function isUpToDate(folder) {
  try {
    const made = JSON.parse(readFileSync(`${folder}.json`, 'utf8'))
    const files = Object.entries(made.files)
    return made.machine === machine && files.every(([file, state]) => stateOf(file) === state)
  } catch {
    // Nothing was made here, or a source is gone.
    return false
  }
}

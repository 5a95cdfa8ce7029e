import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as made from '../../bin/made.js'
import type { Scripts } from './build-scripts.ts'

/** The scripts as they are sent. */
export interface ServedScripts {
  /** Stands in their addresses and changes with any of them: browsers keep them for good, and mix no two releases. */
  readonly version: string
  readonly bodies: ReadonlyMap<string, Buffer>
  /** The script of this name, and all that it cannot run without. */
  readonly needed: (name: string) => readonly string[]
}

let served: Promise<ServedScripts> | undefined

/** Those that `npm ci` made, or else made now. */
export function servedScripts(): Promise<ServedScripts> {
  served ??= load().then(serve)
  return served
}

async function load(): Promise<Scripts> {
  if (made.isUpToDate(made.scripts)) {
    return JSON.parse(readFileSync(path.join(made.scripts, 'scripts.json'), 'utf8')) as Scripts
  }
  const { buildScripts } = await import('./build-scripts.ts')
  return buildScripts()
}

function serve(scripts: Scripts): ServedScripts {
  return {
    version: createHash('sha256').update(JSON.stringify(scripts)).digest('base64url').slice(0, 16),
    bodies: new Map(Object.entries(scripts).map(([name, { code }]) => [name, Buffer.from(code)])),
    needed(name) {
      const all = new Set([name])
      // What is added while this goes on is visited, too.
      for (const one of all) for (const next of scripts[one]?.imports ?? []) all.add(next)
      return [...all]
    },
  }
}

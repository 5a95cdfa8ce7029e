// Makes the scripts of the pages.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beginMaking, endMaking, scripts } from '../bin/made.js'
import { buildScripts, sourcesOfScripts } from '../src/web/build-scripts.ts'

beginMaking(scripts)
mkdirSync(scripts, { recursive: true })
writeFileSync(path.join(scripts, 'scripts.json'), JSON.stringify(await buildScripts()))
// The folders change with a page that is new.
endMaking(
  scripts,
  [...sourcesOfScripts(), 'browser/places', 'browser/pages', 'build-scripts.ts'].map(
    (file) => `src/web/${file}`,
  ),
)

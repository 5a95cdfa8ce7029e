// Makes what `bin/made.js` tells of, under any Node that npm runs with. What cannot be made a start does itself.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from './bundle.js'

const run = promisify(execFile)
const file = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Runs a script under the Node that npm brought, for it uses the sources. */
async function runScript(name) {
  const brought = file('node_modules/node/bin/node')
  await run(existsSync(brought) ? brought : process.execPath, [file(`scripts/${name}`)])
}

const tell = (what) => (error) => {
  console.warn(`${what}: ${error.stderr || error.message}`)
}
await Promise.all([
  bundle().catch(tell('guildhall starts from its sources, which takes longer')),
  runScript('prepare-database.ts').catch(
    tell('guildhall makes its database at its first start, which takes longer'),
  ),
  runScript('prepare-scripts.ts').catch(
    tell('guildhall makes the scripts of its pages for the first visitor'),
  ),
])

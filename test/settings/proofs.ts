import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { oldNames, settingNames, signInSwitches } from '../../src/settings/index.ts'
import { casesOf } from './cases.ts'

const root = path.resolve(import.meta.dirname, '../..')
const folders = ['test/settings', 'test/api', 'test/git', 'test/runner', 'test/registry', 'test/directory']
/** These name settings to look at their values, not at what they do. */
const others = new Set([
  'test/settings/catalogue.test.ts',
  'test/settings/changes.test.ts',
  'test/settings/rules.test.ts',
])

/** All names under which something can be set. */
export const names: ReadonlySet<string> = new Set([
  ...settingNames,
  ...Object.keys(oldNames),
  ...signInSwitches,
])

/** By name the suites with a test that sets it over the API, sees its effect, and sees the effect end. */
export function proofs(): ReadonlyMap<string, readonly string[]> {
  const found = new Map([...names].map((name) => [name, [] as string[]]))
  for (const folder of folders) {
    for (const file of readdirSync(path.join(root, folder))) {
      const suite = `${folder}/${file}`
      if (!file.endsWith('.test.ts') || others.has(suite)) continue
      const text = readFileSync(path.join(root, suite), 'utf8')
      if (!text.includes('/application/settings') && !text.includes('effects.ts')) continue
      const proven = new Set(casesOf(text, names).flatMap(({ proves }) => proves))
      for (const name of proven) found.get(name)!.push(suite)
    }
  }
  return found
}

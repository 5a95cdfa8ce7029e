import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { settingNames } from '../../src/settings/index.ts'

const root = path.resolve(import.meta.dirname, '../..')
const folders = ['test/settings', 'test/api', 'test/git', 'test/runner', 'test/registry', 'test/directory']
/** These name settings to look at their values, not at what they do. */
const others = new Set(['test/settings/catalogue.test.ts', 'test/settings/changes.test.ts'])

/**
 * Where a suite sets a setting: it is given a value, or named in a table of what is set. A throttle is tested as a
 * family, of which a table names what follows `throttle_`.
 */
function patternOf(name: string): RegExp {
  const family = /^throttle_(.+)_(?:enabled|period_in_seconds|requests_per_period)$/.exec(name)?.[1]
  return new RegExp(
    family === undefined
      ? `[{,(]\\s*${name}\\s*[:,}]|'${name}'`
      : `\\b(?:throttle_)?${family}(?:\\b|_enabled\\b)`,
  )
}

/** To speak of a setting is no proof. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
}

/** By setting the suites that set it and look at what becomes of that. */
export function proofs(): ReadonlyMap<string, readonly string[]> {
  const suites = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => `${folder}/${file}`)
      .filter((file) => !others.has(file))
      .map((file) => ({ file, text: withoutComments(readFileSync(path.join(root, file), 'utf8')) })),
  )
  return new Map(
    settingNames.map((name) => {
      const pattern = patternOf(name)
      const found = suites.filter(({ text }) => pattern.test(text))
      return [name, found.map(({ file }) => file)]
    }),
  )
}

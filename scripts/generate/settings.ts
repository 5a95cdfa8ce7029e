import { catalogue, oldNames, signInSwitches, type Setting } from '../../src/settings/index.ts'
import { proofs } from '../../test/settings/proofs.ts'
import { unproven } from '../../test/settings/unproven.ts'
import { page, table } from './markdown.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  object: 'hash',
  array: 'list',
}

function typeText(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  const types = [schema.type ?? 'any'].flat().map((type) => typeNames[type] ?? type)
  const bounds = [
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.maximum !== undefined && `at most ${schema.maximum}`,
    schema.maxLength !== undefined && `at most ${schema.maxLength} characters`,
  ].filter((bound) => bound !== false)
  return [types.join(' or '), ...bounds].join(', ')
}

function testsText(tests: readonly string[]): string {
  return tests.map((file) => `\`${file.replace(/^test\//, '').replace(/\.test\.ts$/, '')}\``).join(', ')
}

/** What becomes of a setting: the tests that show its effect, or why there is none to show. */
function effectText(name: string, { recorded, needs }: Setting, tests: readonly string[]): string {
  if (recorded === true) return 'stored and shown only'
  if (tests.length > 0) return testsText(tests)
  if (needs !== undefined) return `stored and shown; it would need a ${needs}`
  return `stored and shown; not in force: there are no ${unproven.get(name)!} yet`
}

/** `docs/settings.md`: every instance setting. */
export function settingsPage(): string {
  const found = proofs()
  const rows = Object.entries(catalogue as Readonly<Record<string, Setting>>)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, row]) => [
      `\`${name}\``,
      typeText(row.schema as Schema),
      row.secret === true ? 'secret' : `\`${JSON.stringify(row.fallback)}\``,
      row.plan ?? '',
      row.about,
      effectText(name, row, found.get(name) ?? []),
    ])
  const others = [
    ...Object.entries(oldNames).map(([name, { of }]) => [
      name,
      of === undefined ? 'nothing: taken, and without an effect' : `\`${of}\``,
    ]),
    ...signInSwitches.map((name) => [name, `\`${name}\` of \`sign_in_restrictions\``]),
  ].map(([name, meaning]) => [`\`${name!}\``, meaning!, testsText(found.get(name!) ?? [])])
  return page(
    'Settings',
    'What an administrator can change while the service runs, with `PUT /application/settings`. A change is in force on every node at once. The last column names the tests, below `test/`, that set a setting over the API, see what it does, and see that end when it is set back.',
    table(['Setting', 'Type', 'Default', 'Plan', 'What it does', 'Shown by'], rows),
    '## Other names',
    'Under these names settings are taken, too, and most are answered under them.',
    table(['Name', 'Stands for', 'Shown by'], others),
    'Generated from `src/settings/catalogue` by `npm run generate`.',
  )
}

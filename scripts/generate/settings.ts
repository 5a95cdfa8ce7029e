import { catalogue } from '../../src/settings/index.ts'
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

/** `docs/settings.md`: every instance setting. */
export function settingsPage(): string {
  const rows = Object.entries(catalogue)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { schema, fallback, about }]) => [
      `\`${name}\``,
      typeText(schema as Schema),
      `\`${JSON.stringify(fallback)}\``,
      about,
    ])
  return page(
    'Settings',
    'What an administrator can change while the service runs. A change is in force on every node at once.',
    table(['Setting', 'Type', 'Default', 'What it does'], rows),
    'Generated from `src/settings/catalogue` by `npm run generate`.',
  )
}

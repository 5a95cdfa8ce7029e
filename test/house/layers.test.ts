import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { RuleTester } from 'eslint'
import { describe, expect, test } from 'vitest'
import { layering } from '../../scripts/lint/layering.js'
import { layers } from '../../scripts/lint/layers.js'
import { noShell } from '../../scripts/lint/no-shell.js'

const source = path.resolve(import.meta.dirname, '../../src')

RuleTester.describe = describe
RuleTester.it = test
const tester = new RuleTester()
const at = (file: string, code: string) => ({
  filename: path.join(source, file),
  code,
  name: `${file}: ${code}`,
})
const layer = [{ messageId: 'layer' }]
const face = [{ messageId: 'face' }]

tester.run('layering', layering, {
  valid: [
    at('areas/variables/routes.ts', "import { project } from '../../access/index.ts'"),
    at('areas/variables/routes.ts', "import { rules } from './rules.ts'"),
    at('areas/variables/routes.ts', "import { createUser } from '../users/index.ts'"),
    at('areas/users/routes/create.ts', "import { rules } from '../rules.ts'"),
    at('access/gate.ts', "import { sql } from 'kysely'"),
    at('access/gate.ts', "import { Database } from '../kernel/db/index.ts'"),
    at('app/service.ts', "import { mountPages } from '../web/index.ts'"),
    at('kernel/log/context.ts', "import { channel } from 'node:diagnostics_channel'"),
    at('kernel/db/embedded/start.test.ts', "import { startService } from '../../../app/service.ts'"),
    at('main.ts', "import { program } from './cli/command-line.ts'"),
  ],
  invalid: [
    { ...at('kernel/log/context.ts', "import { decide } from '../../access/index.ts'"), errors: layer },
    { ...at('web/index.ts', "import { project } from '../access/index.ts'"), errors: layer },
    { ...at('runner/loop.ts', "export { x } from '../ci/index.ts'"), errors: layer },
    { ...at('runner/loop.ts', "export * from '../git/index.ts'"), errors: layer },
    { ...at('git/refs.ts', "const late = import('../areas/users/index.ts')"), errors: layer },
    { ...at('access/gate.ts', "import { users } from '../areas/users/index.ts'"), errors: layer },
    {
      ...at('areas/variables/store.ts', "import { startService } from '../../app/service.ts'"),
      errors: layer,
    },
    { ...at('areas/variables/store.ts', "import { create } from '../users/create.ts'"), errors: face },
    { ...at('areas/variables/store.ts', "import { x } from '../users/routes/index.ts'"), errors: face },
  ],
})

tester.run('no-shell', noShell, {
  valid: ["import { spawn } from 'node:child_process'", 'spawn(name, [], { shell: false })'],
  invalid: [
    { code: "import { exec } from 'node:child_process'", errors: [{ messageId: 'shell' }] },
    { code: "import { execSync } from 'child_process'", errors: [{ messageId: 'shell' }] },
    { code: 'spawn(name, [], { shell: true })', errors: [{ messageId: 'shell' }] },
  ],
})

interface Import {
  readonly file: string
  /** Gone once the types are stripped. */
  readonly typeOnly: boolean
}

const statement = /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'/gm

function importsOf(file: string): Import[] {
  return [...readFileSync(file, 'utf8').matchAll(statement)].map(([, type, specifier]) => ({
    file: path.resolve(path.dirname(file), specifier!),
    typeOnly: type !== undefined,
  }))
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => path.join(source, file))

/** The first circle found in a graph, as the names along it. */
function findCircle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>()
  const walk = (node: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node]
    if (done.has(node)) return undefined
    for (const next of graph.get(node) ?? []) {
      const circle = walk(next, [...way, node])
      if (circle !== undefined) return circle
    }
    done.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const circle = walk(node, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

describe('imports', () => {
  test('every room is in the table of layers', () => {
    const rooms = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(rooms.map(({ name }) => name).toSorted()).toEqual(Object.keys(layers).toSorted())
  })

  test('the table of layers leads down only', () => {
    expect(
      findCircle(new Map(Object.entries(layers).map(([room, below]) => [room, new Set(below)]))),
    ).toBeUndefined()
  })

  test('what a file imports is there', () => {
    const known = new Set(files)
    const missing = files.flatMap((file) =>
      importsOf(file)
        .filter((one) => one.file.startsWith(source) && one.file.endsWith('.ts') && !known.has(one.file))
        .map((one) => `${path.relative(source, file)} imports ${path.relative(source, one.file)}`),
    )
    expect(missing).toEqual([])
  })

  test('no file needs itself', () => {
    const graph = new Map(
      files.map((file) => [
        path.relative(source, file),
        new Set(
          importsOf(file)
            .filter(({ typeOnly }) => !typeOnly)
            .map((one) => path.relative(source, one.file)),
        ),
      ]),
    )
    expect(findCircle(graph)).toBeUndefined()
  })

  test('no area needs itself, types counted', () => {
    const areaOf = (file: string) => /^areas\/([^/]+)\//.exec(path.relative(source, file))?.[1]
    const graph = new Map<string, Set<string>>()
    for (const file of files) {
      const from = areaOf(file)
      if (from === undefined) continue
      const needs = graph.get(from) ?? new Set()
      graph.set(from, needs)
      for (const { file: target } of importsOf(file)) {
        const to = areaOf(target)
        if (to !== undefined && to !== from) needs.add(to)
      }
    }
    expect(findCircle(graph)).toBeUndefined()
  })

  test('a circle would be found', () => {
    const graph = new Map([
      ['a', new Set(['b'])],
      ['b', new Set(['c', 'd'])],
      ['c', new Set<string>()],
      ['d', new Set(['b'])],
    ])
    expect(findCircle(graph)).toEqual(['b', 'd', 'b'])
  })
})

import { describe, expect, test } from 'vitest'
import { parse } from './config/parse.ts'
import { compile } from './compile/compile.ts'
import { contextOf } from './fixtures/pipelines.ts'

/** The limits of the language (completions, 7.7): the most that goes, and what is said of one more. */

const many = (count: number, item: (number: number) => unknown) =>
  Array.from({ length: count }, (_, i) => item(i))
const text = (length: number) => 'n'.repeat(length)
const json = (value: unknown) => JSON.stringify(value)
const job = (keys: Record<string, unknown>) => json({ a: { script: 'x', ...keys } })
const nested = (depth: number): unknown => (depth === 0 ? 'x' : [nested(depth - 1)])
const jobs = (count: number) =>
  Object.fromEntries(
    many(count, (i) => [`j${i}`, { script: 'x', stage: 'build' }] as const) as [string, unknown][],
  )

test.each<[string, number, (size: number) => string, string]>([
  [
    'characters of a job name',
    255,
    (n) => json({ [text(n)]: { script: 'x' } }),
    'is too long (maximum is 255 characters)',
  ],
  [
    'characters of a stage',
    255,
    (n) => json({ stages: [text(n)], a: { script: 'x', stage: text(n) } }),
    'is too long (maximum is 255 characters)',
  ],
  [
    'characters of a workflow name',
    255,
    (n) => json({ workflow: { name: text(n) }, a: { script: 'x' } }),
    'workflow name is too long (maximum is 255 characters)',
  ],
  [
    'needs',
    50,
    (n) => json({ ...jobs(n), a: { script: 'x', needs: many(n, (i) => `j${i}`) } }),
    'a: one job can only need 50 others, but you have listed 51',
  ],
  [
    'needs of other projects',
    5,
    (n) => job({ needs: many(n, (i) => ({ project: 'g/p', job: `j${i}`, ref: 'main' })) }),
    'jobs:a:needs config has too many entries (maximum 5)',
  ],
  ['parallel', 200, (n) => job({ parallel: n }), 'jobs:a:parallel config must be less than or equal to 200'],
  [
    'jobs of a matrix',
    200,
    (n) => job({ parallel: { matrix: [{ A: many(n, String) }] } }),
    'jobs:a:parallel:matrix config generates too many jobs (maximum is 200)',
  ],
  [
    'files of a trigger',
    3,
    (n) => json({ a: { trigger: { include: many(n, (i) => `${i}.yml`) } } }),
    'has too many entries (maximum 3)',
  ],
  [
    'caches',
    4,
    (n) => job({ cache: many(n, () => ({ paths: ['x'] })) }),
    'jobs:a:caches config no more than 4 caches can be created',
  ],
  [
    'fallback keys',
    5,
    (n) => job({ cache: { fallback_keys: many(n, String) } }),
    'has too many entries (maximum 5)',
  ],
  [
    'files of a cache key',
    2,
    (n) => job({ cache: { key: { files: many(n, String) } } }),
    'has too many entries (maximum 2)',
  ],
  [
    'changed paths of a rule',
    50,
    (n) => job({ rules: [{ changes: many(n, String) }] }),
    'has too many entries (maximum 50)',
  ],
  [
    'existing paths of a rule',
    50,
    (n) => job({ rules: [{ exists: [...many(n - 1, String), '**'] }] }),
    'has too many entries (maximum 50)',
  ],
  ['tags', 49, (n) => job({ tags: many(n, String) }), 'must be less than the limit of 50 tags'],
  [
    'levels of a script',
    10,
    (n) => job({ script: nested(n) }),
    'jobs:a:script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  [
    'characters of expose_as',
    100,
    (n) => job({ artifacts: { paths: ['x'], expose_as: text(n) } }),
    'is too long (maximum is 100 characters)',
  ],
  [
    'inputs of a job',
    50,
    (n) =>
      job({ inputs: Object.fromEntries(many(n, (i) => [`i${i}`, { default: 'x' }]) as [string, unknown][]) }),
    'has too many entries (maximum 50)',
  ],
  ['attempts', 2, (n) => job({ retry: n }), 'jobs:a:retry config must be less than or equal to 2'],
  [
    'seconds of a delay',
    604_800,
    (n) => job({ when: 'delayed', start_in: `${n} seconds` }),
    'jobs:a start in should not exceed the limit',
  ],
  [
    'levels of extends',
    11,
    (n) =>
      json({
        ...Object.fromEntries(many(n, (i) => [`.j${i}`, { extends: `.j${i + 1}` }]) as [string, unknown][]),
        [`.j${n}`]: {},
        a: { extends: '.j1', script: 'x' },
      }),
    'nesting too deep in `extends`',
  ],
])('%s: %i, and no more', (_, most, source, error) => {
  expect(errorsOf(source(most))).toEqual([])
  expect(errorsOf(source(most + 1)).join('\n')).toContain(error)
})

function errorsOf(source: string): string[] {
  const parsed = parse(source)
  if ('errors' in parsed) return parsed.errors
  const context = contextOf({ changedPaths: null, treePaths: ['x'] })
  const result = compile(parsed.config, context)
  return 'errors' in result ? result.errors : []
}

describe('what is far too large ends in an error', () => {
  const tooBig = ['The parsed YAML is too big']
  const bombs: [string, string][] = [
    ['10 MB of one text', `a: {script: "${'x'.repeat(10 * 1024 * 1024)}"}`],
    ['10 MB of jobs', many(400_000, (i) => `j${i}: {script: x}`).join('\n')],
    [
      'aliases of aliases',
      `a0: &a0 [x]\n${many(40, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}`,
    ],
    ['lists in lists', `a: ${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ]
  test.each(bombs)('%s', (_, source) => expect(errorsOf(source)).toEqual(tooBig))
})

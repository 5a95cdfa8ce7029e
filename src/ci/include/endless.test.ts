// @module-tag long
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import { contextOf } from '../fixtures/pipelines.ts'
import { ownFiles, parseIn } from '../fixtures/sources.ts'

/** Whatever files include, and whatever they hold: it ends, soon, and with a result. */

const names = ['a.yml', 'b.yml', 'c.yml', 'd.yml']

test('files that include one another in any way', () => {
  const includes = fc.array(fc.constantFrom(...names, '*.yml', 'none.yml'), { maxLength: 3 })
  const files = fc.tuple(...names.map(() => includes))
  fc.assert(
    fc.property(files, fc.nat(40), (all, limit) => {
      const world = ownFiles(
        Object.fromEntries(
          names.map((name, i) => [name, JSON.stringify({ include: all[i], [`.${name}`]: 1 })]),
        ),
      )
      const parsed = parseIn(world, 'include: a.yml\nj: {script: x}', { limits: { files: limit } })
      const included = 'config' in parsed ? parsed.config.includes : parsed.includes!
      expect(included.length).toBeLessThanOrEqual(limit)
    }),
    { numRuns: 500 },
  )
})

const word = fc.constantFrom(
  ...['include', 'local', 'project', 'file', 'ref', 'remote', 'template', 'component', 'artifact', 'job'],
  ...['inputs', 'rules', 'if', 'exists', 'changes', 'script', 'x', 'integrity', 'when', 'spec', 'default'],
  ...['type', 'options', 'regex', 'release', 'secrets', 'vault', 'run', 'cache', 'key', 'files', 'needs'],
)
const text = fc.constantFrom(
  ...['a.yml', '*.yml', 'https://x.test/a.yml', 'Go.gitlab-ci.yml', 'ci.example.test/g/p/c@1', '$X/a.yml'],
  ...[
    '$[[ inputs.x ]]',
    '$[[ inputs.x | truncate(0,1) ]]',
    '$[[ component.name ]]',
    'g/p',
    'number',
    'array',
    '(',
  ],
)
const { map } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'medium' }, text, fc.integer(), fc.constant(null), tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  map: fc.dictionary(word, tie('value'), { maxKeys: 5 }),
}))

test('any content, with any header and any inputs', () => {
  fc.assert(
    fc.property(map, map, map, (header, content, inputs) => {
      const file = `${JSON.stringify({ spec: header })}\n---\n${JSON.stringify(content)}`
      const world = ownFiles({ 'a.yml': file, 'b.yml': JSON.stringify(inputs) })
      const parsed = parseIn(world, file, { inputs: inputs, child: true })
      if ('config' in parsed) compile(parsed.config, contextOf())
    }),
    { numRuns: 2000 },
  )
})

describe('hostile files', () => {
  const many = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i))
  test.each([
    ['many includes', `include: [${many(100_000, () => 'a.yml').join()}]`],
    [
      'many rules',
      `include: [${many(20_000, (i) => `{local: a.yml, rules: [{changes: {paths: [a], compare_to: r${i}}, if: $NO}]}`).join()}]`,
    ],
    [
      'many inputs',
      `spec: {inputs: {${many(50_000, (i) => `i${i}: {default: a}`).join()}}}\n---\nj: {script: x}`,
    ],
    [
      'a large default in many places',
      `spec: {inputs: {x: {default: ${'x'.repeat(1_000_000)}}}}\n---\nj: {script: [${many(1000, (i) => `"${i}$[[ inputs.x ]]"`).join()}]}`,
    ],
    [
      'a large list in many places',
      `spec: {inputs: {x: {type: array, default: [${many(50_000, String).join()}]}}}\n---\nj: {script: [${many(1000, () => '"$[[ inputs.x ]]"').join()}]}`,
    ],
  ])('%s', (_, source) => {
    const start = process.cpuUsage()
    parseIn(ownFiles({ 'a.yml': '.a: 1' }), source)
    // Microseconds of the processor; what takes the square of its size takes many minutes.
    expect(process.cpuUsage(start).user).toBeLessThan(30_000_000)
  })
})

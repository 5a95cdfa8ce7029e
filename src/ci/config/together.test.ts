import { describe, expect, test } from 'vitest'
import { contextOf, errorsOf, jobsOf } from '../fixtures/pipelines.ts'
import { compile } from '../compile/compile.ts'
import { parseIn, own } from '../fixtures/sources.ts'
import { mergedYaml, parse } from './parse.ts'

/** From several files and templates to one configuration: include, extends, !reference, default. */

const scriptOf = (source: string, name = 'job') =>
  jobsOf(source).find((job) => job.name === name)!.steps[0]!.script

describe('extends', () => {
  test('merges maps, replaces lists, later bases and own keys win', () => {
    const [job] = jobsOf(`
      .a: {script: [a], variables: {A: a, B: a, C: a}, tags: [a]}
      .b: {script: [b], variables: {B: b, C: b}}
      job: {extends: [.a, .b], variables: {C: own}}`)
    expect(job!.steps[0]!.script).toEqual(['b'])
    expect(job!.variables.map(({ value }) => value)).toEqual(['a', 'b', 'own'])
    expect(job!.tags).toEqual(['a'])
  })

  test('also from jobs that run, and through several levels', () => {
    expect(
      scriptOf('.a: {script: x}\n.b: {extends: .a}\njob: {extends: .b}\nother: {extends: job}', 'other'),
    ).toEqual(['x'])
  })

  const chain = (levels: number) =>
    Array.from({ length: levels }, (_, i) => `j${i}: {extends: j${i + 1}}`).join('\n') +
    `\nj${levels}: {script: x}`
  test('eleven levels, not twelve', () => {
    expect(errorsOf(chain(11))).toEqual([])
    expect(errorsOf(chain(12))[0]).toMatch(/^j\d+: nesting too deep in `extends`$/)
    const upside = chain(12).split('\n').reverse().join('\n')
    expect(errorsOf(upside)[0]).toMatch(/^j\d+: nesting too deep in `extends`$/)
  })

  test.each([
    ['a: {extends: [.x, .y], script: x}', 'a: unknown keys in `extends` (.x, .y)'],
    ['.x: 1\na: {extends: .x}', 'a: invalid base hashes in `extends` (.x)'],
    ['a: {extends: b}\nb: {extends: a}', 'a: circular dependency detected in `extends`'],
    ['a: {extends: a, script: x}', 'a: circular dependency detected in `extends`'],
  ])('%s', (source, error) => expect(errorsOf(source)).toEqual([error]))
})

describe('!reference', () => {
  test('puts in values, lists within lists, through other references', () => {
    expect(
      scriptOf(`
      .a: {script: [a1, a2], vars: {X: x}}
      .b: {script: [!reference [.a, script], b]}
      job:
        variables: !reference [.a, vars]
        script: [before, !reference [.b, script], after]`),
    ).toEqual(['before', 'a1', 'a2', 'b', 'after'])
  })

  test('in rules, and of one key', () => {
    const source = `
      .a: {rules: [{if: $NOPE, when: never}], variables: {URL: u}}
      job: {script: x, rules: [!reference [.a, rules], {when: always}], variables: {U: !reference [.a, variables, URL]}}`
    expect(jobsOf(source)[0]).toMatchObject({ when: 'always', variables: [{ key: 'U', value: 'u' }] })
  })

  const chain = (levels: number) =>
    Array.from({ length: levels }, (_, i) => `.j${i}: [!reference [.j${i + 1}]]`).join('\n') +
    `\n.j${levels}: x\njob: {script: x}`
  test('ten levels, not eleven', () => {
    expect(errorsOf(chain(10))).toEqual([])
    expect(errorsOf(chain(11))[0]).toMatch(/nested too deep$/)
    expect(errorsOf(chain(11).split('\n').reverse().join('\n'))[0]).toMatch(/nested too deep$/)
  })

  test.each([
    ['job: {script: !reference [.a, b]}', '!reference [".a", "b"] could not be found'],
    ['.a: {b: !reference [.a, b]}\njob: {script: x}', '!reference [".a", "b"] is part of a circular chain'],
    [
      '.a: !reference [.b]\n.b: !reference [.a]\njob: {script: x}',
      '!reference [".b"] is part of a circular chain',
    ],
  ])('%s', (source, error) => expect(errorsOf(source)).toEqual([error]))
})

describe('default and inherit', () => {
  const source = (inherit: string) => `
    default: {image: d, tags: [d], retry: 1, cache: {paths: [c]}}
    before_script: [old]
    variables: {A: a, B: b}
    job: {script: x, tags: [own], ${inherit}}`

  test('key by key, own keys win', () => {
    const [job] = jobsOf(source(''))
    expect(job).toMatchObject({ image: { name: 'd' }, tags: ['own'], retry: { max: 1 } })
    expect(job!.steps[0]!.script).toEqual(['old', 'x'])
  })

  test.each([
    ['inherit: {default: false}', { image: null, retry: null, cache: [] }],
    ['inherit: {default: [retry]}', { image: null, retry: { max: 1 } }],
    ['inherit: {variables: false}', { variables: [] }],
    ['inherit: {variables: [B]}', { variables: [{ key: 'B', value: 'b' }] }],
  ])('%s', (inherit, expected) => expect(jobsOf(source(inherit))[0]).toMatchObject(expected))
})

describe('include', () => {
  const files: Record<string, string> = {
    'a.yml': 'include: b.yml\n.t: {script: [a], tags: [a]}\nstages: [one]',
    'b.yml': '.t: {script: [b], image: b}',
    'bad.yml': 'x: [',
    'empty.yml': ' ',
    'self.yml': 'include: self.yml',
  }
  const read = (source: string) => parseIn({ projects: { [own.project]: { HEAD: files } } }, source)
  const errors = (source: string) => {
    const parsed = read(source)
    return 'errors' in parsed ? parsed.errors : []
  }

  test('merges below the own content, nested first', () => {
    const parsed = read('include: [{local: /a.yml}]\njob: {extends: .t, stage: one, tags: [own]}')
    if ('errors' in parsed) throw new Error(parsed.errors[0])
    const compiled = compile(parsed.config, contextOf())
    expect(compiled).toMatchObject({
      jobs: [{ image: { name: 'b' }, tags: ['own'], steps: [{ script: ['a'] }] }],
    })
    expect(parsed.config.includes.map(({ location }) => location)).toEqual(['a.yml', 'b.yml'])
  })

  test.each([
    ['include: no.yml', 'Local file `no.yml` does not exist!'],
    ['include: bad.yml', 'Included file `bad.yml` does not have valid YAML syntax!'],
    ['include: empty.yml', 'Local file `empty.yml` is empty!'],
    ['include: a.txt', 'Included file `a.txt` does not have YAML extension!'],
    ['include: 1', 'Each include must be a hash or a string'],
    ['include: {local: [a]}', 'Included file `["a"]` needs to be a string'],
    ['include: self.yml', 'Maximum of 150 nested includes are allowed!'],
  ])('%s', (source, error) => expect(errors(source)).toEqual([error]))
})

test('the merged file can be shown, and means the same when read again', () => {
  const source =
    '.a: &a {script: [x], tags: ["yes"]}\njob: {<<: *a, variables: {V: 1.0}}\nother: {extends: .a}'
  const parsed = parse(source)
  if ('errors' in parsed) throw new Error(parsed.errors[0])
  const again = parse(mergedYaml(parsed.config))
  expect(again).toMatchObject({ config: { jobs: parsed.config.jobs } })
})

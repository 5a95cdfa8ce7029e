import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { load, type ParseOptions } from '../config/parse.ts'
import { configIn, errorsIn, own, ownFiles, sourcesOf, type World } from '../fixtures/sources.ts'
import type { ConfigSources } from './asking.ts'

/** `include` of every kind: which files become part of the configuration, in which order, and what they may see. */

/** A file whose job says where it is from. */
const job = (name: string) => `${name}: {script: x}`
const jobs = (world: World, source: string, options: ParseOptions = {}) =>
  configIn(world, `${source}\nown: {script: x}`, options).jobs.map(({ name }) => name)
const given = (variables: Record<string, string>, masked = false): ParseOptions => ({
  variables: {
    predefined: [{ key: 'CI_COMMIT_BRANCH', value: 'main' }],
    given: Object.entries(variables).map(([key, value]) => ({ key, value, masked })),
  },
})

const world: World = {
  projects: {
    'acme/app': {
      HEAD: {
        'ci/a.yml': job('a'),
        'ci/b.yml': job('b'),
        'ci/deep/c.yml': job('c'),
        'nested.yml': 'include: ci/a.yml\nn: {script: x}',
        'to-lib.yml': 'include: {project: acme/lib, file: main.yml}',
        'from-remote.yml': job('never'),
        Dockerfile: 'x',
      },
    },
    'acme/lib': {
      HEAD: { 'main.yml': 'include: /part.yml\nlib: {script: x}', 'part.yml': job('part-head') },
      v1: { 'main.yml': 'include: part.yml', 'part.yml': job('part-v1') },
    },
    'acme/parts': {
      '1.2.0': { 'templates/job.yml': job('j120') },
      '1.10.0': { 'templates/job.yml': job('j1100'), 'templates/dir/template.yml': job('dir') },
      '2.0.0-rc1': { 'templates/job.yml': job('rc') },
      main: { 'templates/job.yml': 'include: /other.yml', 'other.yml': job('other') },
    },
    'acme/open': { HEAD: { 'o.yml': job('open') } },
  },
  tags: { 'acme/parts': ['1.2.0', '1.10.0', '2.0.0-rc1', 'nightly'] },
  remote: {
    'https://x.test/a.yml': job('remote'),
    'https://x.test/local.yml': 'include: ci/a.yml',
    'https://x.test/open.yml': 'include: {project: acme/open, file: o.yml}',
    'https://x.test/lib.yml': 'include: {project: acme/lib, file: main.yml}',
    'https://x.test/vars.yml': '.x: 1\ninclude: [{local: x.yml, rules: [{if: $A}]}]',
  },
  hidden: ['acme/lib'],
  artifacts: { build: { 'gen.yml': job('generated') } },
  changes: { HEAD: ['src/a.ts'], main: ['doc/b.md'] },
}

describe('which files', () => {
  test.each<[string, string[]]>([
    ['include: ci/a.yml', ['a']],
    ['include: /ci/a.yml', ['a']],
    ['include: [ci/a.yml, [{local: ci/b.yml}]]', ['a', 'b']],
    ['include: ci/*.yml', ['a', 'b']],
    ['include: ci/**.yml', ['a', 'b', 'c']],
    ['include: ci/**/*.yml', ['c']],
    ['include: none/*.yml', []],
    ['include: nested.yml', ['a', 'n']],
    ['include: [ci/a.yml, ci/a.yml]', ['a']],
    ['include: {project: acme/lib, file: main.yml}', ['part-head', 'lib']],
    ['include: {project: Acme/Lib, file: /main.yml, ref: v1}', ['part-v1']],
    ['include: {project: acme/lib, file: [main.yml, part.yml], ref: v1}', ['part-v1']],
    ['include: to-lib.yml', ['part-head', 'lib']],
    ['include: https://x.test/a.yml', ['remote']],
    ['include: {remote: https://x.test/a.yml}', ['remote']],
    ['include: https://x.test/open.yml', ['open']],
    ['include: {template: Bash.gitlab-ci.yml}', ['syntax', 'tests']],
    ['include: {component: ci.example.test/acme/parts/job@1.2.0}', ['j120']],
    ['include: {component: ci.example.test/acme/parts/job@~latest}', ['j1100']],
    ['include: {component: ci.example.test/acme/parts/job@1}', ['j1100']],
    ['include: {component: ci.example.test/acme/parts/job@1.2}', ['j120']],
    ['include: {component: ci.example.test/acme/parts/job@2.0.0-rc1}', ['rc']],
    ['include: {component: ci.example.test/acme/parts/job@main}', ['other']],
    ['include: {component: ci.example.test/acme/parts/dir@1}', ['dir']],
  ])('%s', (source, names) => expect(jobs(world, source)).toEqual([...names, 'own']))

  test('of an artifact, for a child pipeline', () => {
    const source = 'include: {artifact: gen.yml, job: build}'
    expect(jobs(world, source, { child: true })).toEqual(['generated', 'own'])
  })

  test('integrity of a remote file', () => {
    const digest = createHash('sha256').update(job('remote')).digest('base64')
    const source = (text: string) => `include: {remote: https://x.test/a.yml, integrity: "${text}"}`
    expect(jobs(world, source(`sha256-${digest}`))).toEqual(['remote', 'own'])
    expect(errorsIn(world, source('sha256-AAAA'))).toEqual([
      'Remote file `https://x.test/a.yml` failed integrity check!',
    ])
  })
})

describe('what they mean together', () => {
  const script = (files: Record<string, string>, source: string) =>
    configIn(ownFiles(files), source).jobs[0]!.entry.script

  test('later files win over earlier ones, the own content over all, lists are replaced', () => {
    const files = {
      'a.yml': 'j: {script: [a, a], variables: {A: a, X: a}}',
      'b.yml': 'j: {script: [b], variables: {B: b, X: b}}',
    }
    expect(script(files, 'include: [a.yml, b.yml]')).toEqual(['b'])
    expect(script(files, 'include: [b.yml, a.yml]')).toEqual(['a', 'a'])
    expect(script(files, 'j: {script: [own]}\ninclude: [a.yml, b.yml]')).toEqual(['own'])
    const config = configIn(ownFiles(files), 'include: [a.yml, b.yml]\nj: {variables: {X: own}}')
    expect(config.jobs[0]!.entry.variables).toEqual([
      { key: 'A', value: 'a' },
      { key: 'X', value: 'own' },
      { key: 'B', value: 'b' },
    ])
  })

  test('what a file includes lies below it', () => {
    const files = { 'a.yml': 'include: b.yml\nj: {script: a}', 'b.yml': 'j: {script: b, image: b}' }
    expect(script(files, 'include: a.yml')).toEqual(['a'])
  })

  test('are listed with where they lie and who included them', () => {
    expect(configIn(world, 'include: [to-lib.yml, "https://x.test/a.yml"]').includes).toEqual([
      { type: 'local', location: 'to-lib.yml', at: { ...own, path: 'to-lib.yml' }, extra: {}, from: own },
      {
        type: 'file',
        location: 'main.yml',
        at: { project: 'acme/lib', sha: 'sha-HEAD', path: 'main.yml' },
        extra: { project: 'acme/lib', ref: 'HEAD' },
        from: own,
      },
      expect.objectContaining({ location: 'part.yml', from: { project: 'acme/lib', sha: 'sha-HEAD' } }),
      { type: 'remote', location: 'https://x.test/a.yml', at: null, extra: {}, from: own },
    ])
  })
})

describe('variables', () => {
  test.each<[string, string[]]>([
    ['include: "$DIR/a.yml"', ['a']],
    ['include: {local: "${DIR}/$FILE.yml"}', ['b']],
    ['include: "$URL"', ['remote']],
    ['include: {project: "$GROUP/lib", file: "$PART.yml", ref: $REF}', ['part-v1']],
    ['include: {component: "ci.example.test/$GROUP/parts/job@$VERSION"}', ['j120']],
    ['include: "ci/a$NOPE.yml"', ['a']],
  ])('%s', (source, names) => {
    const variables = {
      DIR: 'ci',
      FILE: 'b',
      URL: 'https://x.test/a.yml',
      GROUP: 'acme',
      PART: 'part',
      REF: 'v1',
    }
    expect(jobs(world, source, given({ ...variables, VERSION: '1.2' }))).toEqual([...names, 'own'])
  })

  test('are hidden from remote files and templates', () => {
    expect(errorsIn(world, 'include: https://x.test/vars.yml\nown: {script: x}', given({ A: 'a' }))).toEqual(
      [],
    )
  })

  test('masked ones are not shown in texts', () => {
    expect(errorsIn(world, 'include: "$SECRET/x.yml"', given({ SECRET: 'sesame-open' }, true))).toEqual([
      'Local file `[MASKED]xxx/x.yml` does not exist!',
    ])
  })
})

describe('rules', () => {
  test.each<[string, boolean]>([
    ['[]', false],
    ['[{}]', true],
    ['[{if: $CI_COMMIT_BRANCH == "main"}]', true],
    ['[{if: $CI_COMMIT_BRANCH == "x"}]', false],
    ['[{if: $CI_COMMIT_BRANCH, when: never}]', false],
    ['[{exists: [Dockerfile]}]', true],
    ['[{exists: [Makefile]}]', false],
    ['[{exists: {paths: [part.yml], project: acme/lib, ref: v1}}]', true],
    ['[{changes: [src/*]}]', true],
    ['[{changes: [doc/*]}]', false],
    ['[{changes: {paths: [doc/*], compare_to: $CI_COMMIT_BRANCH}}]', true],
    ['[{if: $NOPE, exists: [Dockerfile]}, {when: always}]', true],
  ])('%s: %s', (rules, included) => {
    const source = `include: [{local: ci/a.yml, rules: ${rules}}]`
    expect(jobs(world, source, given({}))).toEqual(included ? ['a', 'own'] : ['own'])
  })

  test.each([
    ['{if: $A ==}', 'include:rules:rule if invalid expression syntax'],
    ['{when: manual}', 'include:rules:rule when unknown value: manual'],
    ['{x: 1}', 'include:rules:rule config contains unknown keys: x'],
    ['{changes: {paths: [a], compare_to: x}}', 'include:rules:changes:compare_to is not a valid ref'],
    [
      '{exists: {paths: [a], project: acme/lib, ref: v9}}',
      'include:rules:exists:ref `v9` is not a valid ref in project `acme/lib`',
    ],
    ['{exists: {paths: [a], project: x}}', 'include:rules:exists:project `x` is not a valid project'],
  ])('%s', (rule, error) =>
    expect(errorsIn(world, `include: [{local: ci/a.yml, rules: [${rule}]}]`)).toEqual([error]),
  )
})

describe('limits', () => {
  const self = ownFiles({ 'self.yml': 'include: self.yml', 'a.yml': job('a') })
  const times = (count: number) => `include: [${Array(count).fill('a.yml').join()}]`
  test('of files, each time it is included', () => {
    expect(errorsIn(self, times(150))).toEqual([])
    expect(errorsIn(self, times(151))).toEqual(['Maximum of 150 nested includes are allowed!'])
    expect(errorsIn(self, 'include: self.yml')).toEqual(['Maximum of 150 nested includes are allowed!'])
    const limits = { files: 2 }
    expect(errorsIn(self, times(2), { limits })).toEqual([])
    expect(errorsIn(self, times(3), { limits })).toEqual(['Maximum of 2 nested includes are allowed!'])
    const endless = { limits: { files: 1_000_000 } }
    expect(errorsIn(self, 'include: self.yml', endless)).toEqual([
      'Maximum of 1000000 nested includes are allowed!',
    ])
  })
  test('of bytes', () => {
    expect(errorsIn(self, times(9), { limits: { totalBytes: 100 } })).toEqual([
      'Total size of combined CI/CD configuration is too big',
    ])
    expect(errorsIn(self, job('a'), { limits: { fileBytes: 5 } })).toEqual(['The parsed YAML is too big'])
    expect(errorsIn(self, 'a: {script: [[[[x]]]]}', { limits: { depth: 4 } })).toEqual([
      'The parsed YAML is too big',
    ])
  })
  test('of time', async () => {
    const never: ConfigSources = { ...sourcesOf({}), remote: () => new Promise(() => undefined) }
    const signal = AbortSignal.timeout(10)
    expect(await load('include: https://x.test/a.yml', never, { signal })).toEqual({
      errors: ['Resolving config took longer than expected'],
    })
  })
})

test('files are asked for side by side, and answers may come later', async () => {
  const rounds: string[][] = []
  let round: string[] | undefined
  const sources: ConfigSources = {
    ...sourcesOf(world),
    async file(about) {
      if (round === undefined) {
        rounds.push((round = []))
        queueMicrotask(() => (round = undefined))
      }
      round.push(about.paths[0]!)
      await Promise.resolve()
      return sourcesOf(world).file(about)
    },
  }
  const parsed = await load('include: [nested.yml, ci/b.yml, to-lib.yml]', sources, { origin: own })
  expect('config' in parsed && parsed.config.jobs.map(({ name }) => name)).toEqual([
    'a',
    'n',
    'b',
    'part-head',
    'lib',
  ])
  expect(rounds).toEqual([['nested.yml', 'ci/b.yml', 'to-lib.yml'], ['ci/a.yml'], ['main.yml'], ['part.yml']])
})

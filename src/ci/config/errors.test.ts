import { describe, expect, test } from 'vitest'
import { errorsOf } from '../fixtures/pipelines.ts'
import { parse } from './parse.ts'

/** The literal texts of what can be wrong with entries and the graph; `a` is a job made of the given keys. */

const job = (keys: string) => `a: {script: x, ${keys}}`
const bridge = (keys: string) => `a: {trigger: g/p, ${keys}}`
const long = 'n'.repeat(256)

describe('whole files', () => {
  test.each([
    ['.a: {script: x}', ['jobs config should contain at least one visible job']],
    ['rspec: {image: x}', ['jobs rspec config should implement the script:, run:, or trigger: keyword']],
    ['rspec:', ['jobs rspec config should implement the script:, run:, or trigger: keyword']],
    [
      'types: [a]\nb: {script: x}',
      ['jobs types config should implement the script:, run:, or trigger: keyword'],
    ],
    ['rspec: {script: x, y: 1, z: 2}', ['jobs:rspec config contains unknown keys: y, z']],
    ['Build: {script: x, Y: 1}', ['jobs:build config contains unknown keys: y']],
    ['"": {script: x}', ["jobs:job name can't be blank"]],
    ['10: {script: x}', ['jobs:10 name should be a symbol']],
    ['true: {script: x}', ['jobs:true name should be a symbol']],
    ['nil: {script: x}', ['jobs:nil name should be a symbol']],
    [`${long}: {script: x}`, [`jobs:${long} name is too long (maximum is 255 characters)`]],
    [
      'rspec: {script: x, trigger: y}',
      ['jobs:rspec config these keys cannot be used together: script, trigger'],
    ],
    ['a: {run: [{name: n}], script: x}', ['jobs:a config these keys cannot be used together: run, script']],
    ['image: x\ndefault: {image: y}\na: {script: x}', ['image is defined in top-level and `default:` entry']],
    ['default: {stage: x}\na: {script: x}', ['default config contains unknown keys: stage']],
    ['stages: build\na: {script: x}', ['stages config should be an array of strings']],
    [`workflow: {name: ${long}}\na: {script: x}`, ['workflow name is too long (maximum is 255 characters)']],
    [
      'workflow: {rules: [{when: manual}]}\na: {script: x}',
      ['workflow:rules:rule when unknown value: manual'],
    ],
    [
      'workflow: {rules: [{allow_failure: true}]}\na: {script: x}',
      ['workflow:rules:rule config contains unknown keys: allow_failure'],
    ],
    [
      'workflow: {auto_cancel: {on_new_commit: x}}\na: {script: x}',
      ['workflow:auto_cancel on new commit must be one of: conservative, interruptible, none'],
    ],
    // All entry errors of the file, globals first.
    [
      'a: {script: {x: 1}, stage: 1}\nb: {x: 1, script: x}\nvariables: [1]',
      [
        'variables config should be a hash',
        'jobs:a:stage config should be a string',
        'jobs:a:script config should be a string or a nested array of strings up to 10 levels deep',
        'jobs:b config contains unknown keys: x',
      ],
    ],
  ])('%s', (source, errors) => expect(errorsOf(source)).toEqual(errors))
})

describe('one job', () => {
  test.each([
    [
      job('after_script: 1'),
      'jobs:a:after_script config should be a string or a nested array of strings up to 10 levels deep',
    ],
    [
      job('before_script: [[[[[[[[[[[x]]]]]]]]]]]'),
      'jobs:a:before_script config should be a string or a nested array of strings up to 10 levels deep',
    ],
    [job('stage: [x]'), 'jobs:a:stage config should be a string'],
    [job('image: [x]'), 'jobs:a:image config should be a hash or a string'],
    [job('image: {entrypoint: [x]}'), "jobs:a:image name can't be blank"],
    [
      job('image: {name: x, pull_policy: maybe}'),
      'jobs:a:image pull policy should be one of: always, never, if-not-present',
    ],
    [job('services: x'), 'jobs:a:services config should be an array'],
    [job('services: [1]'), 'jobs:a:services:service config should be a hash or a string'],
    [job('tags: x'), 'jobs:a:tags config should be an array of strings'],
    [
      job(`tags: [${Array(50).fill('x').join()}]`),
      'jobs:a:tags config must be less than the limit of 50 tags',
    ],
    [job('variables: [x]'), 'jobs:a:variables config should be a hash'],
    [job('variables: {x: [y]}'), 'variable definition must be either a string or a hash'],
    [
      job('variables: {x: {value: y, options: [y]}}'),
      'jobs:a:variables:x config uses invalid data keys: options',
    ],
    [job('rules: x'), 'jobs:a rules should be an array containing hashes and arrays of hashes'],
    [job('rules: [x]'), 'jobs:a rules should be an array containing hashes and arrays of hashes'],
    [job('rules: [{if: $A ==}]'), 'jobs:a:rules:rule if invalid expression syntax'],
    [job('rules: [{x: 1}]'), 'jobs:a:rules:rule config contains unknown keys: x'],
    [job('rules: [{when: x}]'), 'jobs:a:rules:rule when unknown value: x'],
    [job('rules: [{when: {y: 1}}]'), 'jobs:a:rules:rule when unknown value: {"y":1}'],
    [job('rules: [{when: delayed}]'), 'jobs:a:rules:rule start in should be a duration'],
    [job('rules: [{changes: x}]'), 'jobs:a:rules:rule:changes config should be an array or a hash'],
    [
      job(`rules: [{changes: [${Array(51).fill('x').join()}]}]`),
      'jobs:a:rules:rule:changes config has too many entries (maximum 50)',
    ],
    [job('rules: [], only: [x]'), 'jobs:a config key may not be used with `rules`: only'],
    [job('rules: [], except: [x]'), 'jobs:a config key may not be used with `rules`: except'],
    [job('rules: [], start_in: 1h'), 'jobs:a config key may not be used with `rules`: start_in'],
    [job('only: 1'), 'jobs:a:only has to be either an array of conditions or a hash'],
    [
      job('only: [/(/]'),
      'jobs:a:only config should be an array of strings or regular expressions using re2 syntax',
    ],
    [
      job('except: [1]'),
      'jobs:a:except config should be an array of strings or regular expressions using re2 syntax',
    ],
    [job('only: {variables: [x]}'), 'jobs:a:only variables invalid expression syntax'],
    [job('when: x'), 'jobs:a when should be one of: on_success, on_failure, always, manual, delayed'],
    [bridge('when: delayed'), 'jobs:a when should be one of: on_success, on_failure, always, manual'],
    [job('when: delayed'), 'jobs:a start in should be a duration'],
    [job('when: delayed, start_in: soon'), 'jobs:a start in should be a duration'],
    [job('when: delayed, start_in: 8 days'), 'jobs:a start in should not exceed the limit'],
    [job('start_in: 1h'), 'jobs:a start in must be blank'],
    [job('allow_failure: x'), 'jobs:a allow failure should be a hash or a boolean value'],
    [
      job('allow_failure: {exit_codes: x}'),
      'jobs:a:allow_failure exit codes should be an array of integers or an integer',
    ],
    [job('retry: x'), 'jobs:a:retry has to be either an integer or a hash'],
    [job('retry: 3'), 'jobs:a:retry config must be less than or equal to 2'],
    [job('retry: {max: 3}'), 'jobs:a:retry max must be less than or equal to 2'],
    [job('retry: {max: 1, when: x}'), 'jobs:a:retry when is not included in the list'],
    [job('parallel: x'), 'jobs:a:parallel should be an integer or a hash'],
    [job('parallel: 201'), 'jobs:a:parallel config must be less than or equal to 200'],
    [job('parallel: 0'), 'jobs:a:parallel config must be greater than or equal to 1'],
    [
      job(`parallel: {matrix: [{A: [${Array(201).fill(1).join()}]}]}`),
      'jobs:a:parallel:matrix config generates too many jobs (maximum is 200)',
    ],
    [bridge('parallel: 2'), 'jobs:a:parallel config cannot use "parallel: <number>".'],
    [bridge('image: x'), 'jobs:a config contains unknown keys: image'],
    [job('timeout: x'), 'jobs:a:timeout config should be a duration'],
    [job('artifacts: x'), 'jobs:a:artifacts config should be a hash'],
    [job('artifacts: {expire_in: x}'), 'jobs:a:artifacts expire in should be a duration'],
    [job('artifacts: {when: x}'), 'jobs:a:artifacts when should be one of: on_success, on_failure, always'],
    [
      job('artifacts: {expose_as: x, paths: ["*"]}'),
      "jobs:a:artifacts paths can't contain '*' when used with 'expose_as'",
    ],
    [
      job('artifacts: {public: true, access: all}'),
      'jobs:a:artifacts config these keys cannot be used together: public, access',
    ],
    [
      job('artifacts: {reports: {cobertura: x}}'),
      'jobs:a:artifacts:reports config contains unknown keys: cobertura',
    ],
    [
      job('artifacts: {reports: {coverage_report: {path: x}}}'),
      'jobs:a:artifacts:reports:coverage_report config missing required keys: coverage_format',
    ],
    [job('needs: x'), 'jobs:a:needs config can only be a hash or an array'],
    [job('dependencies: x'), 'jobs:a dependencies should be an array of strings'],
    [
      `${job('needs: [b], dependencies: [b, c]')}\nb: {script: x}\nc: {script: x}`,
      'jobs:a dependencies the c should be part of needs',
    ],
    [job('environment: [x]'), 'jobs:a:environment config should be a hash or a string'],
    [
      job('environment: {name: x, action: y}'),
      'jobs:a:environment action should be start, stop, prepare, verify, or access',
    ],
    [job('inherit: {default: [image, x, y]}'), 'jobs:a:inherit:default config contains unknown values: x, y'],
    [job('cache: {key: [x]}'), 'jobs:a:cache:key should be a hash, a string or a symbol'],
    [job('cache: {key: a/b}'), 'jobs:a:cache:key config cannot contain the "/" character'],
    [job('cache: {key: a%2Fb}'), 'jobs:a:cache:key config cannot contain the "/" character'],
    [job('cache: {key: ..}'), 'jobs:a:cache:key config cannot be "." or ".."'],
    [
      job('cache: {key: {files: [x], prefix: a/b}}'),
      'jobs:a:cache:key:prefix config cannot contain the "/" character',
    ],
    [job('cache: {key: {files: []}}'), 'jobs:a:cache:key:files config requires at least 1 item'],
    [
      job('cache: {key: {files: [x], files_commits: [x]}}'),
      'jobs:a:cache:key config must use exactly one of these keys: files, files_commits',
    ],
    [
      job('cache: {key: {prefix: x}}'),
      'jobs:a:cache:key config must use exactly one of these keys: files, files_commits',
    ],
    [job('cache: [{}, {}, {}, {}, {}]'), 'jobs:a:caches config no more than 4 caches can be created'],
    [job('cache: {policy: x}'), 'jobs:a:cache policy should be a variable or one of: pull-push, push, pull'],
    [job('coverage: x'), 'jobs:a:coverage config must be a regular expression with re2 syntax'],
    [job('interruptible: x'), 'jobs:a:interruptible config should be a boolean value'],
    [job('publish: x'), 'jobs:a publish can only be used within a `pages` job'],
    [job('id_tokens: {T: {}}'), 'jobs:a:id_tokens:t config missing required keys: aud'],
    ['a: {trigger: [x]}', 'jobs:a:trigger has to be either a string or a hash'],
    ['a: {trigger: {branch: x}}', 'jobs:a:trigger config must specify either project or include'],
    ['a: {trigger: {project: x, strategy: y}}', 'jobs:a:trigger strategy should be depend or mirror'],
    ['a: {trigger:}', 'jobs:a config should contain either a trigger or a needs:pipeline'],
    [
      'variables: {X: {value: a, options: [b]}}\na: {script: x}',
      'variables:x config value must be present in options',
    ],
  ])('%s', (source, error) => expect(errorsOf(source)).toEqual([error]))
})

describe('the graph', () => {
  const others = '\nb: {script: x, stage: build}\nz: {script: x, stage: deploy}'
  test.each([
    [
      'rspec: {script: x, stage: X}',
      'rspec job: chosen stage X does not exist; available stages are .pre, build, test, deploy, .post',
    ],
    [job('needs: [X]'), 'a job: undefined need: X'],
    [job('needs: [z]') + others, 'a job: need z is not defined in current or prior stages'],
    [job('needs: [b, b]') + others, 'a has the following needs duplicated: b.'],
    [job('rules: [{when: always, needs: [X]}]'), 'a job: undefined need: X'],
    [job(`needs: [${long}]`), `a job: need \`${long}\` name is too long (maximum is 255 characters)`],
    [job('needs: [a]'), 'The pipeline has circular dependencies: self-dependency: a'],
    [
      'a: {script: x, needs: [c]}\nb: {script: x, needs: [a]}\nc: {script: x, needs: [b]}',
      'The pipeline has circular dependencies: topological sort failed: ["a", "c", "b"]',
    ],
    [job('dependencies: [X]'), 'a job: undefined dependency: X'],
    [job('dependencies: [z]') + others, 'a job: dependency z is not defined in current or prior stages'],
    [job('environment: {name: e, on_stop: X}'), 'a job: on_stop job X is not defined'],
    [
      job('environment: {name: e, on_stop: b}') + others,
      'a job: on_stop job b does not have environment defined',
    ],
    [
      job('environment: {name: e, on_stop: s}') + '\ns: {script: x, environment: {name: f, action: stop}}',
      'a job: on_stop job s have different environment name',
    ],
    [
      job('environment: {name: e, on_stop: s}') + '\ns: {script: x, environment: {name: e}}',
      'a job: on_stop job s needs to have action stop defined',
    ],
  ])('%s', (source, error) => expect(errorsOf(source)).toEqual([error]))

  test('needs of a parallel job mean all of it, or one by its name or matrix', () => {
    const matrix = 'm: {script: x, parallel: {matrix: [{A: [1, 2], B: [x, y]}]}}'
    const needing = (needs: string) => {
      const parsed = parse(`${matrix}\na: {script: x, needs: ${needs}}`)
      return 'errors' in parsed ? parsed.errors : parsed.config.jobs.at(-1)!.needs!.map(({ name }) => name)
    }
    expect(needing('[m]')).toEqual(['m: [1, x]', 'm: [1, y]', 'm: [2, x]', 'm: [2, y]'])
    expect(needing('["m: [1, y]"]')).toEqual(['m: [1, y]'])
    expect(needing('[{job: m, parallel: {matrix: [{A: 1, B: y}]}}]')).toEqual(['m: [1, y]'])
    expect(needing('[{job: m, parallel: {matrix: [{A: [1, 2], B: y}]}}]')).toEqual(['m: [1, y]', 'm: [2, y]'])
    expect(needing('[{job: m, parallel: {matrix: [{A: 3, B: y}]}}]')).toEqual([
      'a job: undefined need: m: [3, y]',
    ])
  })
})

describe('warnings', () => {
  const warnings = (source: string) => {
    const parsed = parse(source)
    return 'errors' in parsed ? parsed.errors : parsed.config.warnings
  }
  test('a last rule that lets everything in', () => {
    expect(warnings(job('rules: [{if: $A}, {when: always}]'))[0]).toMatch(
      /^jobs:a may allow multiple pipelines to run for a single action due to `rules:when` clause with no `workflow:rules` - read more: /,
    )
    expect(warnings(job('rules: [{if: $A}, {when: never}]'))).toEqual([])
    expect(warnings(`workflow: {rules: [{when: always}]}\n${job('rules: [{when: always}]')}`)).toEqual([])
  })
  test('a text that is matched as if it were a pattern', () => {
    expect(warnings(job(`rules: [{if: '$A =~ "x"'}]`))).toHaveLength(1)
  })
})

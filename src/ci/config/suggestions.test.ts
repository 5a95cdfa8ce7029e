import { describe, expect, test } from 'vitest'
import { errorsOf } from '../fixtures/pipelines.ts'
import { nearest } from '../text/nearest.ts'

/** A mistyped key is an error that names the key that was probably meant. */

const unknown = 'config contains unknown keys:'

test.each([
  ['a: {script: x, stagee: y}', `jobs:a ${unknown} stagee (did you mean stage?)`],
  ['a: {script: x, befor_scrpt: y}', `jobs:a ${unknown} befor_scrpt (did you mean before_script?)`],
  ['a: {script: x, allow-failure: true}', `jobs:a ${unknown} allow-failure (did you mean allow_failure?)`],
  ['a: {script: x, tgas: [], needz: []}', `jobs:a ${unknown} tgas, needz (did you mean tags, needs?)`],
  ['a: {script: x, tgas: [], zzz: []}', `jobs:a ${unknown} tgas, zzz (did you mean tags?)`],
  ['a: {script: x, zzz: 1}', `jobs:a ${unknown} zzz`],
  ['a: {script: x, rules: [{iff: $A}]}', `jobs:a:rules:rule ${unknown} iff`],
  ['a: {script: x, rules: [{chnages: [b]}]}', `jobs:a:rules:rule ${unknown} chnages (did you mean changes?)`],
  ['a: {script: x, artifacts: {path: [b]}}', `jobs:a:artifacts ${unknown} path (did you mean paths?)`],
  [
    'a: {script: x, artifacts: {reports: {jnuit: b}}}',
    `jobs:a:artifacts:reports ${unknown} jnuit (did you mean junit?)`,
  ],
  [
    'a: {script: x, parallel: {martix: [{A: b}]}}',
    `jobs:a:parallel ${unknown} martix (did you mean matrix?)`,
  ],
  ['workflow: {rule: []}\na: {script: x}', `workflow ${unknown} rule (did you mean rules?)`],
  ['default: {images: b}\na: {script: x}', `default ${unknown} images (did you mean image?)`],
  [
    'a: {scirpt: x}',
    'jobs a config should implement the script:, run:, or trigger: keyword (did you mean script?)',
  ],
  [
    'stagse: [b]\na: {script: x}',
    'jobs stagse config should implement the script:, run:, or trigger: keyword (did you mean stages?)',
  ],
  ['rspec: {image: x}', 'jobs rspec config should implement the script:, run:, or trigger: keyword'],
  [
    'spec: {inputs: {a: {defualt: x}}}\n---\na: {script: x}',
    `header:spec:inputs:a ${unknown} defualt (did you mean default?)`,
  ],
])('%s', (source, error) => expect(errorsOf(source)).toEqual([error]))

describe('the nearest word', () => {
  const known = ['if', 'tags', 'script', 'trigger']
  test.each([
    ['tags', 'tags'],
    ['tag', 'tags'],
    ['scripts', 'script'],
    ['sript', 'script'],
    ['SCRIPT', 'script'],
    ['fi', undefined],
    ['sc', undefined],
    ['t'.repeat(100_000), undefined],
  ])('of %s is %s', (word, near) => expect(nearest(word, known)).toBe(near))
})

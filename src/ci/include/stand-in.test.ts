import { expect, test } from 'vitest'
import { configIn } from '../fixtures/sources.ts'
import { jobsOf } from '../fixtures/pipelines.ts'
import { childSource, configLocation } from './stand-in.ts'

const include = (of: object) => ({ source: JSON.stringify({ include: [of] }) })

test.each([
  [null, { path: '.gitlab-ci.yml' }],
  ['', { path: '.gitlab-ci.yml' }],
  ['/ci/main.yml', { path: 'ci/main.yml' }],
  ['https://x.test/a.yml', include({ remote: 'https://x.test/a.yml' })],
  ['ci/a.yml@group/project', include({ project: 'group/project', file: 'ci/a.yml' })],
  ['a.yml@group/sub/project:v1', include({ project: 'group/sub/project', file: 'a.yml', ref: 'v1' })],
])('the setting %s', (setting, location) => expect(configLocation(setting)).toEqual(location))

test('a child pipeline from a trigger job', () => {
  const [job] = jobsOf(
    't: {trigger: {include: [{artifact: gen.yml, job: build}, {artifact: gen.yml, job: build, inputs: {x: 2}}], inputs: {x: 1}}}',
  )
  const world = {
    artifacts: { build: { 'gen.yml': 'spec: {inputs: {x: }}\n---\nj$[[ inputs.x ]]: {script: x}' } },
  }
  const config = configIn(world, childSource(job!.bridge!), { child: true })
  expect(config.jobs.map(({ name }) => name)).toEqual(['j1', 'j2'])
})

import { expect, test } from 'vitest'
import { compileSource } from '../fixtures/pipelines.ts'
import { readTemplate, templateNames } from './templates.ts'

test.each(templateNames())('%s makes a pipeline', (name) => {
  const variables = { predefined: [{ key: 'CI_DEFAULT_BRANCH', value: 'main' }], given: [] }
  const treePaths = ['Dockerfile', 'pyproject.toml', 'tests/a.sh']
  const result = compileSource(readTemplate(name)!, { variables, treePaths })
  expect('jobs' in result && result.jobs.length).toBeGreaterThan(0)
})

test('by name, with or without the ending', () => {
  expect(templateNames()).toEqual(expect.arrayContaining(['Bash', 'Buildah', 'Go', 'Nodejs', 'Python']))
  expect(readTemplate('Go')).toBe(readTemplate('Go.gitlab-ci.yml'))
  for (const name of ['', 'go', '../ci/templates/Go', 'Go.yml', '/etc/passwd']) {
    expect(readTemplate(name)).toBeNull()
  }
})

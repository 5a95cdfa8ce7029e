import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import { contextOf } from '../fixtures/pipelines.ts'
import { ownFiles, parseIn } from '../fixtures/sources.ts'
import type { CompileContext, CompiledJob } from '../types.ts'
import { readTemplate, templateNames } from './templates.ts'

interface Makes {
  /** What the template looks for in a repository; one of them is enough. */
  readonly files?: readonly string[]
  /** Jobs for a push to the default branch with these files, and to one without any. */
  readonly main: readonly string[]
  readonly bare?: readonly string[]
  /** Jobs for another branch and for a tag, where they differ from those of the default branch. */
  readonly topic?: readonly string[]
  readonly tag?: readonly string[]
}

const site = (...files: string[]): Makes => ({ files, main: ['deploy-pages'], bare: [], topic: [], tag: [] })
const image: Makes = { files: ['Dockerfile'], main: ['build-image'], bare: [] }
const infrastructure: Makes = { main: ['plan', 'apply'], topic: ['plan'], tag: ['plan'] }

const templates: Readonly<Record<string, Makes>> = {
  Bash: { main: ['syntax', 'tests'] },
  Buildah: image,
  'C++': { main: ['test'] },
  Crystal: { main: ['format', 'test'] },
  Dart: { main: ['lint', 'test'] },
  Django: { main: ['test'] },
  Docker: image,
  Elixir: { main: ['lint', 'test'] },
  'Getting-Started': {
    main: ['build', 'unit-tests', 'lint', 'deploy'],
    topic: ['build', 'unit-tests', 'lint'],
    tag: ['build', 'unit-tests', 'lint'],
  },
  Gitleaks: { main: ['gitleaks'] },
  Go: { main: ['vet', 'test', 'build'] },
  Gradle: { main: ['build', 'test'] },
  Julia: { main: ['test'] },
  LaTeX: { main: ['pdf'] },
  Laravel: { main: ['assets', 'test'] },
  Maven: {
    files: ['ci_settings.xml'],
    main: ['verify', 'deploy'],
    bare: ['verify'],
    topic: ['verify'],
    tag: ['verify'],
  },
  Nodejs: { main: ['build', 'test'] },
  OpenTofu: infrastructure,
  PHP: { main: ['syntax', 'test'] },
  Packer: {
    files: ['image.pkr.hcl'],
    main: ['validate', 'build'],
    bare: ['validate'],
    topic: ['validate'],
    tag: ['validate'],
  },
  Pages: { main: ['deploy-pages'], topic: [], tag: [] },
  'Pages/Astro': site('astro.config.mjs'),
  'Pages/Docusaurus': site('docusaurus.config.js', 'docusaurus.config.ts'),
  'Pages/Doxygen': site('Doxyfile'),
  'Pages/HTML': site('index.html'),
  'Pages/Hexo': site('_config.yml'),
  'Pages/Hugo': site('hugo.toml', 'config.yaml', 'config/_default/hugo.json'),
  'Pages/Jekyll': site('_config.yml'),
  'Pages/MkDocs': site('mkdocs.yml'),
  'Pages/Pelican': site('pelicanconf.py'),
  'Pages/Sphinx': site('docs/conf.py', 'docs/source/conf.py'),
  Python: { files: ['pyproject.toml'], main: ['test', 'package'], bare: ['test'] },
  Ruby: { main: ['lint', 'test'] },
  Rust: { main: ['lint', 'test', 'build'] },
  Semgrep: { main: ['semgrep'] },
  Swift: { main: ['test'] },
  Terraform: infrastructure,
  'Workflows/Branch-Pipelines': { main: ['own'] },
  'Workflows/MergeRequest-Pipelines': { main: ['own'], topic: [] },
  'dotNET-Core': { main: ['build', 'test'] },
  npm: { files: ['package.json'], main: [], topic: [], tag: ['publish'] },
}

type Event = 'main' | 'topic' | 'tag' | 'merge request'

function about(event: Event): Partial<CompileContext> {
  const ofEvent: Record<Event, Record<string, string>> = {
    main: { CI_COMMIT_BRANCH: 'main' },
    topic: { CI_COMMIT_BRANCH: 'topic' },
    tag: { CI_COMMIT_TAG: 'v1' },
    'merge request': { CI_MERGE_REQUEST_IID: '1' },
  }
  const known = { CI_DEFAULT_BRANCH: 'main', CI_COMMIT_REF_SLUG: 'x', ...ofEvent[event] }
  return {
    ref: event,
    refType: event === 'tag' ? 'tag' : 'branch',
    source: event === 'merge request' ? 'merge_request_event' : 'push',
    variables: {
      predefined: Object.entries(known).map(([key, value]) => ({ key, value })),
      given: [],
    },
  }
}

/** The jobs that a file makes which includes these; those of workflows are for jobs beside them. */
function jobsOf(names: readonly string[], event: Event, treePaths: readonly string[] = []): CompiledJob[] {
  const lone = names.every((name) => name.startsWith('Workflows/'))
  const source = JSON.stringify({
    include: names.map((name) => ({ template: `${name}.gitlab-ci.yml` })),
    ...(lone && { own: { script: 'make' } }),
  })
  const parsed = parseIn(ownFiles({}), source)
  if ('errors' in parsed) throw new Error(parsed.errors.join('\n'))
  const context = { ...contextOf(), ...about(event), treePaths: [...treePaths] }
  const result = compile(parsed.config, context)
  if ('jobs' in result) return result.jobs
  expect(result.failureReason).toMatch(/^filtered_by/)
  return []
}
const called = (jobs: readonly CompiledJob[]): string[] => jobs.map(({ name }) => name)

const all = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.gitlab-ci.yml'))
  .map((file) => file.replace('.gitlab-ci.yml', ''))

test('each is told of here', () => {
  expect(Object.keys(templates).sort()).toEqual(all.sort())
})

test.each(Object.entries(templates))('%s makes its jobs where its files are', (name, makes) => {
  const { files = [], main, bare = main, topic = main, tag = main } = makes
  for (const file of files) expect(called(jobsOf([name], 'main', [file])), file).toEqual(main)
  expect(called(jobsOf([name], 'main'))).toEqual(bare)
  expect(called(jobsOf([name], 'topic', files))).toEqual(topic)
  expect(called(jobsOf([name], 'tag', files))).toEqual(tag)
})

const forJobs = Object.keys(templates).filter((name) => !name.startsWith('Workflows/'))

test.each(forJobs)('%s makes pipelines of merge requests only where a workflow asks for them', (name) => {
  const { files = [], topic = [] } = templates[name]!
  expect(called(jobsOf([name], 'merge request', files))).toEqual([])
  const branches = ['Workflows/Branch-Pipelines', name]
  expect(called(jobsOf(branches, 'merge request', files))).toEqual([])
  expect(called(jobsOf(branches, 'topic', files))).toEqual(called(jobsOf([name], 'topic', files)))
  const requests = ['Workflows/MergeRequest-Pipelines', name]
  expect(called(jobsOf(requests, 'topic', files))).toEqual([])
  const whateverItIsFor = topic.filter((job) => !['package', 'build-image'].includes(job))
  expect(called(jobsOf(requests, 'merge request', files))).toEqual(expect.arrayContaining(whateverItIsFor))
})

test.each(forJobs)('%s says what it does, and its scripts can be read by a shell', (name) => {
  expect(readTemplate(name)).toMatch(/^# \S.{20,}\n/)
  const { files } = templates[name]!
  const jobs = [...jobsOf([name], 'main', files), ...jobsOf([name], 'tag', files)]
  for (const { steps } of jobs) {
    for (const { script } of steps) execFileSync('sh', ['-n'], { input: script.join('\n') })
  }
})

test('by name, by path, with or without the ending', () => {
  expect(templateNames()).toEqual([...templateNames()].sort())
  expect(templateNames()).toEqual(expect.arrayContaining(['Go', 'Hugo', 'Terraform', 'npm']))
  expect(new Set(templateNames()).size).toBe(all.filter((name) => !name.startsWith('Workflows/')).length)
  expect(readTemplate('Go')).toBe(readTemplate('Go.gitlab-ci.yml'))
  expect(readTemplate('Hugo')).toBe(readTemplate('Pages/Hugo'))
  expect(readTemplate('Workflows/Branch-Pipelines')).toContain('workflow:')
  for (const name of ['', 'go', 'Go.yml', '/etc/passwd', 'Branch-Pipelines', 'Pages/Go', 'Pages//Hugo']) {
    expect(readTemplate(name), name).toBeNull()
  }
  for (const name of ['../ci/templates/Go', 'Pages/../Go', './Go', '__proto__', 'constructor']) {
    expect(readTemplate(name), name).toBeNull()
  }
})

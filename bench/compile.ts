import { compile, parse, type CompileContext } from '../src/ci/index.ts'

/** Milliseconds to make the jobs of a large configuration, in a process that has done so before. */
export interface Compiling {
  readonly jobs: number
  /** Of all tries. */
  readonly median: number
  readonly worst: number
}

const tries = 15
const warmups = 5

const job = (number: number): string => `
build ${number}:
  extends: .base
  stage: ${['build', 'test', 'deploy'][number % 3]!}
  parallel:
    matrix:
      - SYSTEM: [linux, mac, windows, bsd, solaris]
        VERSION: ['1', '2', '3', '4', '5', '6', '7', '8']
        MODE: [a, b, c, d, e]
  rules:
    - if: $CI_COMMIT_BRANCH == "main" && $SYSTEM =~ /^(linux|mac)$/
      changes: [src/**/*, '*.json']
    - if: $CI_PIPELINE_SOURCE == "schedule"
      when: manual
    - exists: [package.json]
  tags: [$SYSTEM, v$VERSION]
  environment: { name: review/$SYSTEM-$VERSION }
  cache: { key: $SYSTEM-$VERSION, paths: [vendor] }
`

const configuration = `
stages: [build, test, deploy]
variables: { REGISTRY: registry.example.test, IMAGE: $REGISTRY/app }
.base: { image: 'node:$VERSION', before_script: [setup], script: [make, make test] }
${Array.from({ length: 10 }, (_, number) => job(number)).join('')}`

/** A project with a hundred variables and five thousand files, of which a push changed fifty. */
function context(): CompileContext {
  const list = (count: number, prefix: string, value: string) =>
    Array.from({ length: count }, (_, number) => ({
      key: `${prefix}_${number}`,
      value: `${value} ${number}`,
    }))
  const files = (count: number) => Array.from({ length: count }, (_, number) => `src/part/${number}.ts`)
  return {
    source: 'push',
    ref: 'main',
    refType: 'branch',
    projectPath: 'acme/app',
    variables: {
      predefined: [...list(60, 'CI_FACT', 'fact'), { key: 'CI_COMMIT_BRANCH', value: 'main' }],
      given: list(100, 'KEPT', 'value of $REGISTRY'),
    },
    changedPaths: files(50),
    treePaths: [...files(5_000), 'package.json'],
  }
}

/** 2,000 jobs of ten matrices: read, checked, and compiled for a push. */
export function compiling(): Compiling {
  const times: number[] = []
  let jobs = 0
  for (let attempt = 0; attempt < warmups + tries; attempt += 1) {
    const begin = performance.now()
    const parsed = parse(configuration)
    if ('errors' in parsed) throw new Error(parsed.errors.join('\n'))
    const result = compile(parsed.config, context())
    if ('errors' in result) throw new Error(result.errors.join('\n'))
    if (attempt >= warmups) times.push(performance.now() - begin)
    jobs = result.jobs.length
  }
  times.sort((one, other) => one - other)
  return { jobs, median: times[Math.floor(times.length / 2)]!, worst: times.at(-1)! }
}

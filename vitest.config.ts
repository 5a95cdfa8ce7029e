import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes minutes comes first, or it is what all wait for at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLongest = ({ moduleId }: TestSpecification): boolean =>
      /\.thorough\.test\.ts$|\/permission-grid[^/]*$/.test(moduleId)
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    // `npm test` passes over them: it stays a matter of minutes.
    tags: [
      {
        name: 'long',
        description: 'Suites that take more than some seconds; a comment at their head says so.',
      },
    ],
    globalSetup: ['test/world/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // What is waited for comes soon, but not on a busy machine.
    expect: { poll: { interval: 20, timeout: 30_000 } },
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Each suite has a service and a database of its own; the program itself is loaded and warmed up once a worker.
    isolate: false,
    // Suites wait more than they compute: for processes, git and time itself.
    maxWorkers: 4,
    // Most of what requests make is gone by the next collection.
    execArgv: ['--max-semi-space-size=32'],
  },
})

import path from 'node:path'
import { defineConfig } from 'vitest/config'

/** A suite is a folder here; `--project` names it. */
const suite = (name: string, setup: readonly string[] = []) => ({
  test: {
    name,
    root: path.dirname(import.meta.dirname),
    include: [`conformance/${name}/**/*.test.ts`],
    globalSetup: ['test/world/global-setup.ts', ...setup],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks' as const,
  },
})

export default defineConfig({
  test: { projects: [suite('runner', ['conformance/runner/global-setup.ts']), suite('client-go')] },
})

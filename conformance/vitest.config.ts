import path from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: path.dirname(import.meta.dirname),
    include: ['conformance/runner/**/*.test.ts'],
    globalSetup: ['test/world/global-setup.ts', 'conformance/runner/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
})

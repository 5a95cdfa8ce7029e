import type { TestProject } from 'vitest/node'
import { stockRunner } from './binary.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the stock runner's binary. */
    stockRunner: string
  }
}

export default async function setup(project: TestProject): Promise<void> {
  project.provide('stockRunner', await stockRunner((line) => process.stderr.write(`${line}\n`)))
}

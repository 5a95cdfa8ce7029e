// Adds up the results of all suites in a folder and prints them as the last line: `N passed, N failed`.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const folder = process.argv[2]
let passed = 0
let failed = 0
for (const name of readdirSync(folder)) {
  const result = JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
  passed += result.numPassedTests
  failed += result.numFailedTests
  // A suite that could not be loaded has no tests that failed, but did.
  failed += result.testResults.filter(
    (suite) => suite.status === 'failed' && suite.assertionResults.every((test) => test.status !== 'failed'),
  ).length
}
console.log(`${passed} passed, ${failed} failed`)
if (failed > 0 || passed === 0) process.exitCode = 1

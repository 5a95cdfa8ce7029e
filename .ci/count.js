// Adds up the results of all suites in a folder: names what failed, then prints, as the last line, `N passed, N failed`.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const folder = process.argv[2]
let passed = 0
const failures = []
for (const name of readdirSync(folder)) {
  const { numPassedTests, testResults } = JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
  passed += numPassedTests
  for (const file of testResults) {
    const tests = file.assertionResults.filter((test) => test.status === 'failed')
    const where = `${name}: ${path.relative('.', file.name)}`
    for (const test of tests) {
      failures.push(`${where}: ${test.fullName}\n${(test.failureMessages[0] ?? '').slice(0, 2000)}`)
    }
    // A suite that could not be loaded has no tests that failed, but did.
    if (file.status === 'failed' && tests.length === 0) failures.push(`${where}: ${file.message}`)
  }
}
for (const failure of failures) console.log(`failed: ${failure}\n`)
console.log(`${passed} passed, ${failures.length} failed`)
if (failures.length > 0 || passed === 0) process.exitCode = 1

// Adds up the results of all suites in a folder: names what failed, then prints, as the last line, `N passed, N failed`.
// Suites that are known to have failed are named after the folder: not every failure is one of a test.
// A file that was run once more (`SUITE.again.json`) counts as it ended then, and is named: such a test wants mending.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const [folder, ...failedSuites] = process.argv.slice(2)
let passed = 0
const failures = []
const unsteady = []

function contentOf(name) {
  const file = path.join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function resultsOf(name) {
  const text = contentOf(name)
  return text === undefined ? [] : JSON.parse(text).testResults
}

function failuresOf(file) {
  const tests = file.assertionResults.filter((test) => test.status === 'failed')
  const where = path.relative('.', file.name)
  // A suite that could not be loaded has no tests that failed, but did.
  if (file.status === 'failed' && tests.length === 0) return [`${where}: ${file.message}`]
  return tests.map((test) => `${where}: ${test.fullName}\n${(test.failureMessages[0] ?? '').slice(0, 2000)}`)
}

/** What was printed of errors that no test waited for. */
function unhandledIn(name) {
  const text = contentOf(name) ?? ''
  const at = text.indexOf('Unhandled Error')
  return at === -1 ? undefined : text.slice(at, at + 3000)
}

for (const name of readdirSync(folder)) {
  if (!name.endsWith('.json') || name.endsWith('.again.json')) continue
  const suite = path.basename(name, '.json')
  const again = new Map(resultsOf(`${suite}.again.json`).map((file) => [file.name, file]))
  for (const first of resultsOf(name)) {
    const last = again.get(first.name) ?? first
    passed += last.assertionResults.filter((test) => test.status === 'passed').length
    failures.push(...failuresOf(last).map((failure) => `${suite}: ${failure}`))
    if (last !== first)
      unsteady.push(...failuresOf(first).map((failure) => `${suite}: ${failure.slice(0, 400)}`))
  }
  const unhandled = unhandledIn(`${suite}.log`)
  if (unhandled !== undefined && !failedSuites.includes(suite)) unsteady.push(`${suite}: ${unhandled}`)
}
for (const suite of failedSuites) {
  if (failures.some((failure) => failure.startsWith(`${suite}: `))) continue
  const unhandled = unhandledIn(`${suite}.again.log`) ?? unhandledIn(`${suite}.log`)
  failures.push(`${suite}: ${unhandled ?? 'outside of its tests'}`)
}
for (const failure of unsteady) console.log(`failed at first: ${failure}\n`)
for (const failure of failures) console.log(`failed: ${failure}\n`)
console.log(`${passed} passed, ${failures.length} failed`)
if (failures.length > 0 || passed === 0) process.exitCode = 1

// Prints the files of a suite in which something failed, a line each: a test, or what no test waited for.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const [results, log] = process.argv.slice(2)
const { testResults } = JSON.parse(readFileSync(results, 'utf8'))
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
const printed = stripVTControlCharacters(readFileSync(log, 'utf8'))
const unhandled = [...printed.matchAll(/^This error originated in "(.+?)" test file/gm)]
for (const file of new Set([...failed, ...unhandled.map(([, name]) => path.resolve(name))])) console.log(file)

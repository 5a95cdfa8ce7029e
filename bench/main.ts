import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readMachine } from './machine.ts'
import { readOptions, usage, WrongUsage, type Options } from './options.ts'
import { page } from './report.ts'
import type { Results } from './results.ts'
import { Run } from './run.ts'

/** Progress goes to standard error, the result to standard output. */
const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function bench(options: Options): Promise<void> {
  const begun = performance.now()
  const results = await emptyResults(options)
  const stack = new AsyncDisposableStack()
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => reject(new Error(`stopped by ${signal}`)))
    }
  })
  try {
    const directory = await mkdtemp(path.join(tmpdir(), 'guildhall-bench-'))
    stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
    // The database may run as another user, who has to pass through.
    await chmod(directory, 0o711)
    const run = new Run(options, directory, results, stack, say).all()
    // What is still under way when we are interrupted fails as its processes end.
    run.catch(() => undefined)
    await Promise.race([run, interrupted])
  } finally {
    await stack.disposeAsync()
  }
  results.took = (performance.now() - begun) / 1000
  const text = await page(results)
  process.stdout.write(`\n${text}`)
  if (options.write) await writeFile(new URL('../BENCHMARKS.md', import.meta.url), text)
}

async function emptyResults({ scale, only, quick }: Options): Promise<Results> {
  const count = (number: number): string => number.toLocaleString('en')
  return {
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(
      ' ',
    ),
    date: new Date().toISOString().slice(0, 10),
    data:
      `${count(scale.projects)} projects; one of them with ${count(scale.pipelines)} pipelines, one with ` +
      `${count(scale.variables)} variables; a tree of groups of ${scale.depth} levels with ${count(scale.members)} ` +
      `members; ${count(scale.callers)} callers`,
    machine: await readMachine(),
    postgres: '',
    endpoints: [],
    transfers: [],
    latencies: [],
    idle: [],
    remarks: [
      ...(only.length > 0 ? [`only ${only.join(', ')} was asked for`] : []),
      ...(quick ? ['a quick run: a small set of data and short windows'] : []),
    ],
    took: 0,
  }
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) process.stdout.write(usage)
  else await bench(options)
} catch (error) {
  say(error instanceof WrongUsage ? `${error.message}\n\n${usage}` : String((error as Error).stack))
  process.exitCode = 1
}

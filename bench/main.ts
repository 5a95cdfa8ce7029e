import { writeFile } from 'node:fs/promises'
import { freshFolder } from './fresh-service.ts'
import { readMachine } from './machine.ts'
import { readOptions, usage, WrongUsage, type Options } from './options.ts'
import { page } from './report.ts'
import type { Results } from './results.ts'
import { Run } from './run.ts'

/** Progress goes to standard error, the result to standard output. */
const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** Somebody wants it to end before its time. */
class Stopped extends Error {}

async function bench(options: Options): Promise<void> {
  const begun = performance.now()
  const results = await emptyResults(options)
  const stack = new AsyncDisposableStack()
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stop.abort(new Stopped(`stopped by ${signal}`)))
  }
  let run: Promise<void> | undefined
  try {
    const directory = await freshFolder(stack)
    run = new Run(options, directory, results, stack, stop.signal, say).all()
    await Promise.race([run, aborted(stop.signal)])
  } finally {
    await stack.disposeAsync()
    // What was under way when we were stopped fails as its processes end.
    await run?.catch(() => undefined)
  }
  results.took = (performance.now() - begun) / 1000
  const text = await page(results)
  process.stdout.write(`\n${text}`)
  if (options.write) await writeFile(new URL('../BENCHMARKS.md', import.meta.url), text)
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
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
  if (error instanceof WrongUsage) say(`${error.message}\n\n${usage}`)
  else say(error instanceof Stopped ? error.message : String((error as Error).stack))
  process.exitCode = 1
}

import { spawn } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { FreshService, freshFolder } from '../bench/fresh-service.ts'
import { rootToken } from '../bench/world.ts'

/**
 * Runs the conformance suite of the OCI distribution specification against a service of its own, in all four
 * workflows. The suite is built from the Go module proxy, pinned by `conformance/oci/go.sum`; or, where the proxy does
 * not have it, from a checkout: `--source DIR`, or `OCI_CONFORMANCE_SOURCE`. Where there is neither, or no Go, it says
 * what it lacks and is skipped; `--required` makes that a failure.
 */
const suite = 'github.com/opencontainers/distribution-spec/conformance'
const pinned = path.resolve(import.meta.dirname, '../conformance/oci')

interface Ended {
  readonly code: number | null
  readonly output: string
}

function run(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
    }
    child.on('error', (error) => resolve({ code: null, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}

function skip(reason: string): void {
  console.log(`OCI conformance suite skipped: ${reason}`)
  console.log(
    'It needs Go, and the sources of the suite: from a module proxy that has ' +
      `${suite} (GOPROXY), or from a checkout of the specification (--source DIR).\n` +
      'test/registry/blobs.test.ts and manifests.test.ts walk the same four workflows without it.',
  )
  if (process.argv.includes('--required')) process.exitCode = 1
}

/** The folder of the suite's sources, where somebody has put them: itself, or the specification that it is a part of. */
async function givenSource(): Promise<string | undefined> {
  const { values } = parseArgs({
    options: { source: { type: 'string' }, required: { type: 'boolean' } },
  })
  const folder = values.source ?? process.env['OCI_CONFORMANCE_SOURCE'] ?? ''
  if (folder === '') return undefined
  for (const place of [folder, path.join(folder, 'conformance')]) {
    const module = await readFile(path.join(place, 'go.mod'), 'utf8').catch(() => '')
    if (module.includes(suite)) return path.resolve(place)
  }
  throw new Error(`${folder} is no checkout of the suite: there is no go.mod of ${suite} in it`)
}

async function main(): Promise<void> {
  const given = await givenSource()
  await using stack = new AsyncDisposableStack()
  const directory = await freshFolder(stack)
  const build = path.join(directory, 'build')
  await cp(given ?? pinned, build, { recursive: true })

  if ((await run('go', ['version'], { cwd: build })).code !== 0) {
    skip('there is no Go here')
    return
  }
  const binary = path.join(directory, 'conformance')
  const env = { GOFLAGS: '-mod=mod' }
  if (given === undefined) {
    const fetched = await run('go', ['mod', 'download', suite], { cwd: build, env })
    if (fetched.code !== 0) {
      skip(`it cannot be fetched.\n${fetched.output.trim()}`)
      return
    }
  }
  const built = await run('go', ['build', '-o', binary, given === undefined ? suite : '.'], {
    cwd: build,
    env,
  })
  if (built.code !== 0) throw new Error(`the suite cannot be built:\n${built.output}`)

  const service = stack.use(await FreshService.start({ ROLES: 'web' }))
  await service.make('/projects', { name: 'conformance', path: 'conformance' })
  const { code, output } = await run(binary, [], {
    cwd: directory,
    env: {
      OCI_REGISTRY: new URL(service.url).host,
      OCI_TLS: 'disabled',
      OCI_REPO1: 'root/conformance/one',
      OCI_REPO2: 'root/conformance/two',
      OCI_USERNAME: 'root',
      OCI_PASSWORD: rootToken,
      OCI_LOG: 'warn',
      // What a registry need not have, and this one has.
      OCI_API_BLOBS_UPLOAD_CANCEL: 'true',
      OCI_API_BLOBS_DIGEST_HEADER: 'true',
      OCI_API_MANIFESTS_DIGEST_HEADER: 'true',
    },
  })
  // Of what went well the numbers are enough.
  console.log(code === 0 ? /^OCI Conformance Result:.*?(?=^$)/ms.exec(output)?.[0] : output)
  process.exitCode = code ?? 1
}

await main()

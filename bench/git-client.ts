import { spawn } from 'node:child_process'
import { createCipheriv } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Milliseconds for one command. */
const patience = 60_000

/** The `git` of this machine with settings of nobody's, as a client. */
export class GitClient {
  readonly #home: string
  readonly #signal: AbortSignal

  /** `home` is a folder of ours; what is made lies in it. `signal` ends what runs. */
  constructor(home: string, signal: AbortSignal) {
    this.#home = home
    this.#signal = signal
  }

  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      HOME: this.#home,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      ...Object.fromEntries(
        ['AUTHOR', 'COMMITTER'].flatMap((who) => [
          [`GIT_${who}_NAME`, 'Bench'],
          [`GIT_${who}_EMAIL`, 'bench@example.com'],
        ]),
      ),
    }
  }

  folder(name: string): string {
    return path.join(this.#home, name)
  }

  /** What it wrote. Throws when it fails, with its complaint. */
  async run(args: readonly string[], input?: Iterable<string | Buffer>): Promise<Buffer> {
    const child = spawn('git', args, {
      env: this.environment,
      timeout: patience,
      killSignal: 'SIGKILL',
      signal: this.#signal,
    })
    const collect = async (stream: Readable): Promise<Buffer> =>
      Buffer.concat((await stream.toArray()) as Buffer[])
    const [output, complaint, code] = await Promise.all([
      collect(child.stdout),
      collect(child.stderr),
      new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
      pipeline(Readable.from(input ?? []), child.stdin),
    ])
    if (code !== 0) throw new Error(`git ${args.join(' ')} failed: ${complaint.toString().slice(-300)}`)
    return output
  }

  async line(args: readonly string[], input?: Iterable<string>): Promise<string> {
    return (await this.run(args, input)).toString().trim()
  }

  /** Seconds that it took. */
  async time(args: readonly string[]): Promise<number> {
    const begin = performance.now()
    await this.run(args)
    return (performance.now() - begin) / 1000
  }

  /** A bare repository; `settings` as `receive.fsckObjects=true`. */
  async bare(name: string, settings: readonly string[] = []): Promise<string> {
    const folder = this.folder(name)
    await mkdir(folder, { recursive: true })
    await this.run(['init', '--quiet', '--bare', '--initial-branch=main', folder])
    for (const setting of settings) await this.run(['-C', folder, 'config', ...setting.split('=', 2)])
    return folder
  }

  /**
   * Fills `main` of a bare repository with commits, each of which changes one of its files; `large` ones, of bytes that
   * cannot be compressed, come with commits spread over the history.
   */
  async fill(
    folder: string,
    commits: number,
    files: Readonly<Record<string, string>> = {},
    large?: LargeFiles,
  ): Promise<void> {
    await this.run(['-C', folder, 'fast-import', '--quiet', '--done'], history(commits, files, large))
  }
}

export interface LargeFiles {
  readonly files: number
  readonly bytes: number
}

function* history(
  commits: number,
  files: Readonly<Record<string, string>>,
  large: LargeFiles = { files: 0, bytes: 0 },
): Generator<string | Buffer> {
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
  // The same bytes in every run.
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16))
  const apart = Math.floor(commits / large.files)
  for (let number = 1; number <= commits; number += 1) {
    const lines = Array.from(
      { length: 20 },
      (_, line) => `line ${line} as of ${(number * (line + 7)) % 1009}`,
    )
    const first = number === 1 ? Object.entries(files) : []
    yield [
      'commit refs/heads/main\n',
      `committer Bench <bench@example.com> ${1_700_000_000 + number * 60} +0000\n`,
      data(`Commit number ${number}`),
      ...first.map(([name, text]) => `M 100644 inline ${name}\n${data(text)}`),
    ].join('')
    if (number % apart === 0 && number / apart <= large.files) {
      yield `M 100644 inline large/${number / apart}.bin\ndata ${large.bytes}\n`
      yield noise.update(Buffer.alloc(large.bytes))
      yield '\n'
    }
    yield `M 100644 inline folder-${number % 20}/file-${number % 300}.txt\n${data(lines.join('\n'))}\n`
  }
  yield 'done\n'
}

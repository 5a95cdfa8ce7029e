import { spawn } from 'node:child_process'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import type { GitClient } from './git-client.ts'

/** The program that comes with git, behind the smallest server that can run it: what bare git does over HTTP. */
export class GitBackend implements AsyncDisposable {
  readonly #server: http.Server

  private constructor(server: http.Server) {
    this.#server = server
  }

  /** Undefined where git comes without it. */
  static async start(git: GitClient, root: string): Promise<GitBackend | undefined> {
    // Run outside a server it complains, but it runs.
    const exists = await git.run(['http-backend']).then(
      () => true,
      (error: unknown) => !String(error).includes('is not a git command'),
    )
    if (!exists) return undefined
    const server = http.createServer((request, response) => answer(git, root, request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new GitBackend(server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function answer(
  git: GitClient,
  root: string,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...git.environment,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'bench',
      REMOTE_ADDR: '127.0.0.1',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'],
      CONTENT_LENGTH: request.headers['content-length'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.on('error', () => response.destroy())
  pipeline(request, child.stdin, () => undefined)
  let head = Buffer.alloc(0)
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    child.stdout.off('data', readHead).pause()
    const fields = head.subarray(0, end).toString('latin1').split('\r\n')
    const headers = Object.fromEntries(fields.map((field) => field.split(': ', 2))) as Record<string, string>
    response.writeHead(Number(headers['Status']?.slice(0, 3) ?? 200), headers)
    response.write(head.subarray(end + 4))
    pipeline(child.stdout, response, () => undefined)
  }
  child.stdout.on('data', readHead)
}
